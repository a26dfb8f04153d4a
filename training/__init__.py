"""Training and evaluation of agents for TAKI."""

import os

# Threads that wait for work must not keep a core busy: on a machine that does anything else,
# training with two threads would take ten times as long. OpenMP reads this when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
