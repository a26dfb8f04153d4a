"""Training and evaluation of agents for TAKI."""

import os
from importlib.util import find_spec

if missing := [name for name in ("torch", "tyro", "rich") if find_spec(name) is None]:
    raise ModuleNotFoundError(
        f"training needs {', '.join(missing)}: pip install 'taki-env[train]'", name=missing[0]
    )

# Idle OpenMP threads must not spin: on a busy machine, training with two threads would take ten
# times as long. OpenMP reads this when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
