#!/usr/bin/env python3
"""Run tests and print the slowest ones.

    test-times.py [--top N] [--keep FILE] COMMAND...

COMMAND is a `cargo test` that passes `-Z unstable-options --report-time` to libtest and has RUSTC_BOOTSTRAP=1 in the
environment of the test binaries only (`make test-times` builds it). The output is passed through. Afterwards the
program prints the wall time of each binary and the N slowest tests, in seconds. --keep writes all tests with their times
to a file, one a line: seconds, binary, name. The exit code is that of COMMAND.
"""
import argparse
import re
import subprocess
import sys

BINARY = re.compile(r"^\s+Running (?:unittests )?(\S+) \(.*/([\w-]+)-[0-9a-f]+\)")
TEST = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (\w+) <([0-9.]+)s>")
RESULT = re.compile(r"^test result: .*finished in ([0-9.]+)s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--keep", metavar="FILE")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    tests, binaries, binary = [], [], "?"
    process = subprocess.Popen(arguments.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        sys.stdout.write(line)
        if found := BINARY.match(line):
            binary = found[2]
        elif found := TEST.match(line):
            tests.append((float(found[3]), binary, found[1]))
        elif found := RESULT.match(line):
            binaries.append((float(found[1]), binary))
    code = process.wait()
    print("\nseconds  binary")
    for seconds, name in sorted(binaries, reverse=True):
        print(f"{seconds:7.1f}  {name}")
    print(f"{sum(seconds for seconds, _ in binaries):7.1f}  all, one after the other\n\nseconds  test")
    tests.sort(reverse=True)
    for seconds, name, test in tests[: arguments.top]:
        print(f"{seconds:7.1f}  {name} {test}")
    print(f"{sum(seconds for seconds, _, _ in tests):7.1f}  all {len(tests)} tests")
    if arguments.keep:
        with open(arguments.keep, "w", encoding="utf-8") as file:
            file.writelines(f"{seconds}\t{name}\t{test}\n" for seconds, name, test in tests)
    return code


if __name__ == "__main__":
    sys.exit(main())
