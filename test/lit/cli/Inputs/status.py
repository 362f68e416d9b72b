#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""status.py N COMMAND...: runs the command and succeeds when it exits with status N; its output goes to standard output."""
import subprocess
import sys

wanted = int(sys.argv[1])
done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
print(done.stdout, end="")
if done.returncode != wanted:
    sys.exit(f"status {done.returncode}, not {wanted}: {' '.join(sys.argv[2:])}")
