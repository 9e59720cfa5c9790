"""Runs the bash completion script in bash: completion_test.py ASSAY"""

import subprocess
import sys

CASES = [
    (["assay", ""], {"completion", "help", "version"}),
    (["assay", "comp"], {"completion"}),
    (["assay", "completion", ""], {"bash", "zsh", "fish"}),
    (["assay", "completion", "z"], {"zsh"}),
    (["assay", "version", "--"], {"--help", "--json"}),
]


def completions(script, words):
    typed = " ".join(f"'{word}'" for word in words)
    code = f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _assay; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    run = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == "", run.stderr
    return set(run.stdout.split())


def main():
    script = subprocess.run([sys.argv[1], "completion", "bash"], capture_output=True, text=True, check=True).stdout
    wrong = 0
    for words, expected in CASES:
        found = completions(script, words)
        if not expected <= found or (words[-1] and not all(word.startswith(words[-1]) for word in found)):
            wrong += 1
            print(f"{words}: found {sorted(found)}, expected at least {sorted(expected)}")
    print(f"{len(CASES)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
