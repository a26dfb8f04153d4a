"""What every test runs with."""

from __future__ import annotations

import pytest

from taki_env import raw_env
from taki_env.envs.gymnasium_env import TakiEnv


@pytest.fixture(autouse=True)
def windows_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open windows where nobody sees them, and show tables without delay."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for environment in (raw_env, TakiEnv):
        monkeypatch.setitem(environment.metadata, "render_fps", 10_000)
