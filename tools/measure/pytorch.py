"""What the scripts that time PyTorch share: PyTorch itself, and the form of a results file."""

import datetime
import sys

from warp.base import build
from warp.base.machine import Machine


def found(program, capability=None):
    """PyTorch, with a GPU that it can use, of that compute capability if one is asked for; else None, and a line says what is missing."""
    try:
        import torch
    except ImportError:
        print(f"{program}: needs PyTorch: pip install torch", file=sys.stderr)
        return None
    if not torch.cuda.is_available() or (capability and torch.cuda.get_device_capability() != capability):
        of = " of compute capability {}.{}".format(*capability) if capability else ""
        print(f"{program}: needs a GPU{of} that PyTorch can use", file=sys.stderr)
        return None
    return torch


def report(torch, rows, more=""):
    """A results file of chapter 18; `more` is what besides CUDA and PyTorch was used."""
    return {
        "chapter": "18_attention",
        "backend": "gpu",
        "device": torch.cuda.get_device_name(),
        "driver": next((driver for _, _, driver, _ in Machine().gpus()), "unknown"),
        "toolkit": f"CUDA {torch.version.cuda}, PyTorch {torch.__version__}{more}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": build.commit(),
        "limits": {},
        "rows": rows,
    }
