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
        network: network with action logits.
        name: name of the agent.
        sample: sample from the distribution instead of playing its most likely action.
        seed: seed of the agent's generator.
        threads: number of threads that compute beliefs; does not change the actions.
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

        Args:
            path: see `load_network`.
            sample: see `PolicyAgent`.
            seed: seed of the agent's generator.
            trust: load any MaskablePPO model with `load_trusted`, which can run code from the file.
        """
        name = f"policy:{path}" + ",sample=true" * sample + ",trust=true" * trust
        return cls(load_trusted(path) if trust else load_network(path), name, sample, seed)

    def inputs(self, view: View) -> Tensor:
        """Return the network's inputs, (B, inputs): observations, and beliefs if it takes them.

        Beliefs are 0 where only one action is legal.
        """
        if not self.network.beliefs:
            return torch.from_numpy(view.observations)
        beliefs = np.zeros((len(view), BELIEF_SIZE), np.float32)
        roots = view.sample_states(1, self.rng)[:, 0]  # so that no hidden card gets here
        words = spread_words(view.random_words(self.rng), NUM_ACTIONS + 1)[:, NUM_ACTIONS] | ONE
        memory = view.memory or Memory.empty(roots)

        def expect(chunk: slice) -> None:
            expect_many(roots[chunk], words[chunk], memory.arrays(chunk), beliefs[chunk])

        each_chunk(self.threads, len(view), expect)
        return torch.from_numpy(np.hstack([view.observations, beliefs]))

    def predict(self, view: View) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return action probabilities (B, 64) and expected returns (B,)."""
        with torch.inference_mode():
            logits, values = self.network(self.inputs(view))
            legal = torch.from_numpy(view.action_masks.astype(bool))
            probabilities = torch.softmax(logits.masked_fill(~legal, -torch.inf), 1)
        return probabilities.numpy(), values[:, 0].numpy()

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """Return the network's action for each game, (B,)."""
        return self.choose(self.inputs(view), view)

    def choose(self, inputs: Tensor, view: View) -> npt.NDArray[np.int64]:
        """Return the network's action for each game, (B,), given its `inputs`."""
        with torch.inference_mode():
            logits = self.network.logits(inputs).numpy()
        if self.sample:  # Gumbel-max trick: the argmax is a sample from the softmax
            words = spread_words(view.random_words(self.rng), NUM_ACTIONS)
            uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
            logits = logits - np.log(-np.log(uniform)).astype(np.float32)
        actions: npt.NDArray[np.int64] = np.where(view.action_masks, logits, -np.inf).argmax(1)
        return actions
