"""The command `annif` with the backend `mlgt`; also `python -m mlgt_annif`."""

import mlgt_annif  # noqa: F401  registers it; spawned processes run this line too


def main() -> None:
    from annif.cli import cli

    cli()


if __name__ == "__main__":
    main()
