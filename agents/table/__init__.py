"""What people use at a table: play, analyze, replay, and the files of recorded games.

Terminal and page only; agents themselves belong in the rooms below.
"""
