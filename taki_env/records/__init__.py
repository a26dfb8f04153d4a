"""Text forms of states and games: positions (RULES.md section 10) and records (docs/records.md).

Reads and writes plain data. Files are the callers' task.
"""
