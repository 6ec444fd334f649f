"""What a sink is given after each step of a run."""

from functools import cached_property

from sensorium.environment import Environment
from sensorium.record.ros2.step_messages import StepMessage, StepMessages


class LiveStep:
    """One step of a run, shared by all its sinks.

    A sink reads it while `send` lasts, on the thread of the run: the environment moves on afterwards. Readings and
    messages that a sink keeps for its own thread stay as they are, and must not be changed.

    Attributes:
        env: The environment, just after the step: `time_ns`, `step_from_ns`, `sensors`, `state`.
        time_ns: Simulated time at the end of the step [ns].
    """

    def __init__(self, env: Environment, maker: StepMessages) -> None:
        """Take the last step of an environment.

        Args:
            env: The environment.
            maker: Makes the messages, of this step and of those before it.
        """
        self.env, self.time_ns = env, env.time_ns
        self._maker = maker

    @cached_property
    def messages(self) -> tuple[StepMessage, ...]:
        """ROS 2 messages of the step, made at the first access and shared with the recorder (`StepMessage.cdr`)."""
        assert self.env.time_ns == self.time_ns, "messages of a step are made before the next step"
        return tuple(self._maker.of(self.env))
