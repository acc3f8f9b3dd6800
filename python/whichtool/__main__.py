"""Runs the command: `python -m whichtool` is `whichtool`."""

import ctypes
import os
import sys

from ._native import library

arguments = [b"whichtool", *map(os.fsencode, sys.argv[1:])]
try:
    command = library.whichtool_main
except AttributeError:  # a library that was built on its own
    sys.exit("this library of whichtool has no command: run `whichtool`, or install the package with pip")
sys.exit(command(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments)))
