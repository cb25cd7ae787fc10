"""Compares two gains of the servo axis and draws both runs.

Start the daemon and `quietcore up examples/servo.toml` before. The gain is as it was at the end,
whatever happens.

    python step_response.py [SECONDS] [FILE]
"""

import sys

import matplotlib.pyplot as plt

import quietcore
from quietcore.frames import seconds_of

GAIN = "servo_P.Kp"
FACTORS = (1.0, 0.5)


def main(seconds: float, file: str) -> None:
    """Runs the axis with each gain for some seconds and writes the picture."""
    figure, axes = plt.subplots(figsize=(9, 3), layout="constrained")
    with quietcore.connect() as host:
        axis = host.partition("axis")
        gain = float(axis.value(GAIN))
        for factor in FACTORS:
            with axis.forced({GAIN: factor * gain}):
                run = axis.frame("servo_U.velocity", seconds=seconds, interval=0.01)
            velocity = run["servo_U.velocity"]
            name = f"Kp = {factor * gain:.3g}"
            axes.step(seconds_of(run), velocity, where="post", label=name)
            print(f"{name}: up to {velocity.abs().max():.1f} rad/s in {len(run)} samples")
        print(axis.state())
    axes.set(xlabel="seconds", ylabel="velocity in rad/s")
    axes.legend(frameon=False)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    main(
        float(sys.argv[1]) if len(sys.argv) > 1 else 3.0,
        sys.argv[2] if len(sys.argv) > 2 else "step_response.png",
    )
