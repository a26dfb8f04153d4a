"""A network as an agent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from agents.beliefs.features import BELIEF_SIZE, expect_many
from agents.network.checkpoint import TrustedNetwork, load_network, load_trusted
from agents.network.network import TakiNetwork
from taki_env import View
from taki_env.base.checks import check_at_least_one
from taki_env.base.threads import each_chunk
from taki_env.core.bits import ONE, spread_words
from taki_env.core.cards import NUM_ACTIONS
from taki_env.core.memory import Memory


class PolicyAgent:
    """Plays the most likely action of a network, or samples from its distribution.

    Args:
        network: gives the logits.
        name: of the agent.
        sample: draw from the distribution instead of its most likely action.
        seed: of the agent's own generator.
        threads: share the games of a call among so many threads where the network takes beliefs;
            they stay the same.
    """

    def __init__(
        self,
        network: TakiNetwork | TrustedNetwork,
        name: str = "policy",
        sample: bool = False,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        check_at_least_one("threads", threads)
        self.network, self.name, self.sample, self.threads = network, name, sample, threads
        self.remembers = network.beliefs
        self.rng = np.random.default_rng(seed)

    @classmethod
    def load(
        cls, path: str | Path, sample: bool = False, seed: int = 0, trust: bool = False
    ) -> PolicyAgent:
        """Return the agent of a run folder or a checkpoint file.

        See `load_network`; with `trust`, which lets the file run code, `load_trusted`.
        """
        name = f"policy:{path}" + ",sample=true" * sample + ",trust=true" * trust
        return cls(load_trusted(path) if trust else load_network(path), name, sample, seed)

    def inputs(self, view: View) -> Tensor:
        """Return what the network is given, (B, inputs): observations, and beliefs if it asks.

        Beliefs are 0 where there is no choice.
        """
        if not self.network.beliefs:
            return torch.from_numpy(view.observations)
        beliefs = np.zeros((len(view), BELIEF_SIZE), np.float32)
        roots = view.sample_states(1, self.rng)[:, 0]  # so that nothing hidden gets here
        words = spread_words(view.random_words(self.rng), NUM_ACTIONS + 1)[:, NUM_ACTIONS] | ONE
        memory = view.memory or Memory.empty(roots)

        def expect(chunk: slice) -> None:
            expect_many(roots[chunk], words[chunk], memory.arrays(chunk), beliefs[chunk])

        each_chunk(self.threads, len(view), expect)
        return torch.from_numpy(np.hstack([view.observations, beliefs]))

    def predict(self, view: View) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return the probabilities of the actions, (B, 64), and the expected returns, (B,)."""
        with torch.inference_mode():
            logits, values = self.network(self.inputs(view))
            legal = torch.from_numpy(view.action_masks.astype(bool))
            probabilities = torch.softmax(logits.masked_fill(~legal, -torch.inf), 1)
        return probabilities.numpy(), values[:, 0].numpy()

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return the network's action for each game, (B,)."""
        return self.choose(self.inputs(view), view)

    def choose(self, inputs: Tensor, view: View) -> npt.NDArray[np.int64]:
        """Return the network's action for each game, (B,), from what it is given of them."""
        with torch.inference_mode():
            logits = self.network.logits(inputs).numpy()
        if self.sample:  # the largest of Gumbel-perturbed logits is a draw from their softmax
            words = spread_words(view.random_words(self.rng), NUM_ACTIONS)
            uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
            logits = logits - np.log(-np.log(uniform)).astype(np.float32)
        return np.where(view.action_masks, logits, -np.inf).argmax(1)
