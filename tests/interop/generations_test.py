"""`assay run --decode` beside ONNX Runtime's own loops over small decoders, and NumPy's divergences."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime

import decoders

ASSAY = os.environ["ASSAY"]
STEPS = 24
PROMPT = np.array([[3, 7, 1, 20, 9]], np.int64)
FAULT_STEP = 17
FAULT_AT = PROMPT.shape[1] - 1 + FAULT_STEP  # the position that this step reads


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def divergence(a, b):
    """Sum of p log(p/q) of two rows of logits."""
    a, b = (x.astype(np.float64) - x.max() for x in (a, b))
    log_p, log_q = a - np.log(np.exp(a).sum()), b - np.log(np.exp(b).sum())
    return float((np.exp(log_p) * (log_p - log_q)).sum())


class GenerationTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def save(self, **settings):
        return decoders.save(self.folder / "m.onnx", **settings)

    def assay(self, *words):
        return subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def decode(self, *words, ids=PROMPT, status=0, steps=STEPS):
        np.savez(self.folder / "ids.npz", input_ids=ids)
        done = self.assay("run", "m.onnx", "--decode", steps, "--load-inputs", "ids.npz", "--json", "report.json",
                          *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.text = done.stdout
        return json.loads((self.folder / "report.json").read_text())

    def expect_tokens(self, report, model, ids=PROMPT, tokens=None):
        expected, _ = decoders.loop(session_of(model), model, ids, STEPS, tokens)
        self.assertEqual([step["step"] for step in report["steps"]], list(range(STEPS)))
        for step, row in zip(report["steps"], expected):
            self.assertEqual(step["token"], [row[step["row"]]] * len(report["runs"]), step)
            self.assertTrue(step["top1_same"])
            self.assertLess(step["kl"], 1e-9)
        self.assertIsNone(report["first_divergence"])

    def test_tokens_are_those_of_onnx_runtime(self):
        for cache, sides in (("concat", ["--onnxrt", "--engine", "--openvino"]),
                             ("scatter", ["--onnxrt", "--engine", "--ref"]), ("", ["--onnxrt", "--engine", "--ref"])):
            with self.subTest(cache):
                model = self.save(cache=cache)
                report = self.decode(*sides)
                self.expect_tokens(report, model)
                errors = [side["cache_relative"] for step in report["steps"] for side in step["sides"]]
                self.assertEqual(all(x is not None and x < 1e-5 for x in errors), bool(cache))

    def test_rows_of_a_batch(self):
        ids = np.array([[3, 7, 1], [40, 2, 2]], np.int64)
        for cache in ("concat", "scatter", ""):
            model = self.save(cache=cache)
            report = self.decode("--onnxrt", "--engine", ids=ids)
            self.assertEqual(report["rows"], 2)
            self.expect_tokens(report, model, ids)

    def test_lengths_of_grouped_attention(self):
        model = decoders.grouped()
        onnx.save(model, self.folder / "m.onnx")
        report = self.decode("--onnxrt", "--engine", "--ref")
        tokens = [step["token"] for step in report["steps"]]
        read = np.concatenate([PROMPT[0], [token[0] for token in tokens[:-1]]]).astype(np.int64)[None]
        empty = np.zeros((1, 2, 0, 8), np.float32)  # all tokens at once
        whole = session_of(model).run(["logits"], {
            "input_ids": read, "seqlens_k": np.array([read.size - 1], np.int32),
            "total_sequence_length": np.array(read.size, np.int32), "past_key_values.0.key": empty,
            "past_key_values.0.value": empty})[0]
        expected = whole[0].argmax(-1)[PROMPT.size - 1:]
        self.assertEqual(tokens, [[token] * 3 for token in expected])

    def test_models_of_one_token_read_the_prompt_one_by_one(self):
        whole = decoders.Decoder(cache="scatter").model()
        self.save(cache="scatter", length=1)
        self.expect_tokens(self.decode("--onnxrt", "--engine"), whole)

    def test_ids_of_a_fixed_length_are_filled(self):
        whole = decoders.Decoder(cache="").model()
        self.save(cache="", length=48)
        self.expect_tokens(self.decode("--onnxrt", "--engine"), whole)

    def test_the_command_has_the_settings_of_backends(self):
        self.save(cache="concat", fault_at=FAULT_AT, rounded=True)
        report = self.decode("--onnxrt", "--ref-fp64", "--bf16", "--seed", "3", "--save-inputs", "step.npz", status=1)
        command = report["first_divergence"]["command"]
        self.assertTrue(command.endswith("--load-inputs step.npz --bf16"), command)
        self.assertIn(self.assay(*command.split()[1:]).returncode, (0, 1))

    def test_masks_of_rows_for_each_token(self):
        # the same weights in the same order: tokens are those of the model that makes its mask itself
        ids = np.array([[3, 7, 1], [40, 2, 2]], np.int64)
        for cache, mask in (("concat", "added"), ("concat", "flags"), ("concat", "padding"), ("scatter", "added"),
                            ("scatter", "flags"), ("", "added"), ("", "flags")):
            with self.subTest(cache=cache, mask=mask):
                self.save(cache=cache, mask=mask)
                report = self.decode("--onnxrt", "--engine", "--ref", ids=ids)
                rule = {feed["input"]: feed["rule"] for feed in report["feeds"]}
                self.assertEqual(rule["attention_mask" if mask == "padding" else "causal_mask"],
                                 "mask" if mask == "padding" else "causal_mask")
                self.expect_tokens(report, decoders.Decoder(cache=cache).model(), ids)

    def test_masks_of_a_fixed_length_are_filled(self):
        self.save(cache="", mask="added", length=48)
        self.expect_tokens(self.decode("--onnxrt", "--engine"), decoders.Decoder(cache="").model())
        self.save(cache="scatter", mask="flags", length=1)
        self.expect_tokens(self.decode("--onnxrt", "--engine"), decoders.Decoder(cache="scatter").model())

    def test_masks_that_are_given_say_what_is_seen(self):
        self.save(cache="concat", mask="added")
        tokens = PROMPT.shape[1]
        hidden = np.where(np.tri(tokens, dtype=bool), 0, -30000).astype(np.float32)[None, None]
        hidden[..., 0] = -30000  # nobody sees the first token, also later
        hidden[:, :, 0, 0] = 0
        np.savez(self.folder / "given.npz", input_ids=PROMPT, causal_mask=hidden)
        report = self.decode("--onnxrt", "--load-inputs", "given.npz", "--save-inputs", "last.npz")
        with np.load(self.folder / "last.npz") as last:
            expected = np.zeros((1, 1, 1, tokens + STEPS - 1), np.float32)
            expected[..., 0] = -30000
            np.testing.assert_array_equal(last["causal_mask"], expected)
        self.assertEqual(len(report["steps"]), STEPS)

    def faulty_engine(self, **settings):
        decoders.save(self.folder / "bad.onnx", fault_at=FAULT_AT, **settings)
        self.assertEqual(self.assay("convert", "bad.onnx", "-o", "bad.engine").returncode, 0)
        return self.save(**settings)

    def test_a_fault_at_token_17_is_found_there(self):
        for cache in ("concat", "scatter"):
            model = self.faulty_engine(cache=cache)
            report = self.decode("--onnxrt", "--trt-engine", "bad.engine", "--save-inputs", "step.npz", status=1)
            tokens, logits = decoders.loop(session_of(model), model, PROMPT, STEPS)
            first = report["first_divergence"]
            self.assertEqual((first["step"], first["position"], first["inputs"]), (FAULT_STEP, FAULT_AT, "step.npz"))
            self.assertEqual((first["token_a"], first["token_b"]),
                             (tokens[FAULT_STEP][0], logits[FAULT_STEP][0].argmin()))
            expected = divergence(logits[FAULT_STEP][0], -logits[FAULT_STEP][0])
            self.assertAlmostEqual(first["kl"], expected, delta=1e-4 * expected)
            self.assertIn(f"First divergence at step {FAULT_STEP}", self.text)
            self.assertIsNone(report["steps"][FAULT_STEP + 1]["kl"])  # the sides have read other tokens
            with np.load(self.folder / "step.npz") as saved:
                self.assertEqual(saved["position_ids"].tolist(), [[FAULT_AT]])
                self.assertEqual(saved["input_ids"].tolist(), [[tokens[FAULT_STEP - 1][0]]])

    def test_a_teacher_keeps_later_steps_comparable(self):
        model = self.faulty_engine(cache="concat")
        report = self.decode("--trt-engine", "bad.engine", "--onnxrt", "--teacher", "first", status=1)
        _, logits = decoders.loop(session_of(model), model, PROMPT, STEPS,
                                  [[step["token"][0]] for step in report["steps"]])
        self.assertEqual(report["first_divergence"]["step"], FAULT_STEP)
        for step in report["steps"]:
            self.assertEqual(step["top1_same"], step["step"] != FAULT_STEP)
            self.assertEqual(step["token"][1], logits[step["step"]][0].argmax())
            self.assertIsNotNone(step["kl"])

    def test_the_command_behind_a_divergence_runs(self):
        self.save(cache="concat", fault_at=FAULT_AT, rounded=True)
        report = self.decode("--onnxrt", "--ref-fp64", "--save-inputs", "step.npz", status=1)
        self.assertEqual(report["first_divergence"]["step"], FAULT_STEP)
        command = report["first_divergence"]["command"].split()
        self.assertEqual(command[:3], ["assay", "debug", "accuracy"])
        done = self.assay(*command[1:])
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("Loading input data from step.npz", done.stdout)

    def save_two(self, **settings):
        """A model that reads the prompt, one for the steps, and the tokens by ONNX Runtime."""
        prompt = decoders.save(self.folder / "p.onnx", cache="opening", **{**settings, "fault_at": None})
        steps = self.save(cache="concat", **{**settings, "fault_at": None})
        session = session_of(prompt)
        results = dict(zip([value.name for value in prompt.graph.output], session.run(None, {"input_ids": PROMPT})))
        session, tokens = session_of(steps), []
        names = [value.name for value in steps.graph.output]
        for step in range(STEPS):
            tokens.append(results["logits"][:, -1].argmax(-1)[:, None])
            feeds = {name.replace("present", "past_key_values"): value for name, value in results.items() if name != "logits"}
            read = PROMPT.shape[1] + step
            made = session.run(None, {"input_ids": tokens[-1], "position_ids": np.array([[read]], np.int64),
                                      "attention_mask": np.ones((1, read + 1), np.int64), **feeds})
            results.update(zip(names, made))
        self.save(cache="concat", **settings)
        return [int(token[0, 0]) for token in tokens]

    def test_prompt_and_steps_are_two_files(self):
        for crosses in (False, True):
            with self.subTest(crosses=crosses):
                tokens = self.save_two(crosses=crosses)
                report = self.decode("--prompt-model", "p.onnx", "--onnxrt", "--engine", "--openvino")
                self.assertEqual([step["token"] for step in report["steps"]], [[token] * 3 for token in tokens])
                self.assertEqual([step["position"] for step in report["steps"]],
                                 list(range(PROMPT.shape[1] - 1, PROMPT.shape[1] - 1 + STEPS)))
                self.assertTrue(all(side["cache_relative"] < 1e-5 for step in report["steps"] for side in step["sides"]))
                rules = {feed["input"]: feed["rule"] for feed in report["feeds"]}
                self.assertEqual(rules.get("past_key_values.0.encoder.key"), "opening" if crosses else None)
        whole, _ = decoders.loop(session_of(decoders.Decoder(cache="").model()), decoders.Decoder(cache="").model(), PROMPT, STEPS)
        self.assertEqual(self.save_two(), whole[:, 0].tolist())

    def test_steps_of_one_token_behind_a_prompt(self):
        for mask in ("", "added"):
            with self.subTest(mask):
                tokens = self.save_two()
                self.save(cache="concat", length=1, mask=mask)
                report = self.decode("--prompt-model", "p.onnx", "--onnxrt", "--engine")
                self.assertEqual([step["token"] for step in report["steps"]], [[token] * 2 for token in tokens])

    def test_a_fault_behind_the_prompt_of_two_files(self):
        tokens = self.save_two(fault_at=FAULT_AT, rounded=True, crosses=True)
        report = self.decode("--prompt-model", "p.onnx", "--onnxrt", "--ref-fp64", "--save-inputs", "step.npz", status=1)
        first = report["first_divergence"]
        self.assertEqual((first["step"], first["token_b"]), (FAULT_STEP, tokens[FAULT_STEP]))
        done = self.assay(*first["command"].split()[1:])
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.save_two()
        decoders.save(self.folder / "p.onnx", cache="opening", fault_at=PROMPT.shape[1] - 1, rounded=True)
        report = self.decode("--prompt-model", "p.onnx", "--onnxrt", "--ref-fp64", "--save-inputs", "step.npz", status=1)
        first = report["first_divergence"]
        self.assertEqual(first["step"], 0)
        self.assertIn("debug accuracy p.onnx --onnxrt", first["command"])
        with np.load(self.folder / "step.npz") as saved:
            self.assertEqual({name: saved[name].tolist() for name in saved}, {"input_ids": PROMPT.tolist()})

    def test_a_prompt_model_that_does_not_fit(self):
        self.save(cache="concat")
        decoders.save(self.folder / "p.onnx", cache="")
        for words, status, line in ((["--prompt-model", "p.onnx"], 3, "no output of `p.onnx` can be told"),
                                    (["--prompt-model", "none.onnx"], 2, "none.onnx")):
            done = self.assay("run", "m.onnx", "--onnxrt", "--decode", 4, *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(line, done.stderr)

    def test_saved_outputs_are_a_side(self):
        for cache in ("concat", "scatter", ""):
            with self.subTest(cache):
                model = self.save(cache=cache)
                before = self.decode("--onnxrt", "--save-outputs", "golden.json")
                report = self.decode("--engine", "--load-outputs", "golden.json")
                self.expect_tokens(report, model)
                self.assertIn("onnxrt", report["runs"][1]["runner"])
                errors = [step["sides"][0]["cache_relative"] for step in report["steps"]]
                self.assertEqual(all(x is not None and x < 1e-5 for x in errors), bool(cache))
                self.assertEqual([step["token"][0] for step in before["steps"]],
                                 [step["token"][1] for step in report["steps"]])

    def test_a_fault_is_found_beside_saved_outputs(self):
        model = self.save(cache="concat")
        self.decode("--onnxrt", "--save-outputs", "golden.json")
        self.save(cache="concat", fault_at=FAULT_AT)
        report = self.decode("--onnxrt", "--load-outputs", "golden.json", status=1)
        first = report["first_divergence"]
        self.assertEqual((first["step"], first["position"]), (FAULT_STEP, FAULT_AT))
        self.assertIsNone(report["steps"][FAULT_STEP + 1]["kl"])
        tokens, logits = decoders.loop(session_of(model), model, PROMPT, STEPS)
        self.assertEqual([first["token_a"], first["token_b"]],
                         [logits[FAULT_STEP][0].argmin(), tokens[FAULT_STEP][0]])
        report = self.decode("--onnxrt", "--load-outputs", "golden.json", "--teacher", "saved", status=1)
        self.assertEqual([step["step"] for step in report["steps"] if not step["top1_same"]], [FAULT_STEP])
        self.assertEqual([step["token"][1] for step in report["steps"]], tokens[:, 0].tolist())
        self.assertTrue(all(step["kl"] < 1e-9 for step in report["steps"] if step["step"] != FAULT_STEP))

    def test_saved_outputs_of_something_else(self):
        self.save(cache="concat")
        self.decode("--onnxrt", "--save-outputs", "golden.json", steps=4)
        other = PROMPT.copy()
        other[0, 0] += 1
        self.decode("--onnxrt", "--load-outputs", "golden.json", ids=other, steps=4, status=2)
        done = self.assay("run", "m.onnx", "--onnxrt", "--decode", 4, "--load-outputs", "golden.json", "--load-inputs", "ids.npz")
        self.assertIn("was saved with another prompt", done.stderr)
        np.savez(self.folder / "ids.npz", input_ids=PROMPT)
        for words, line in ((["--decode", 9, "--teacher", "saved"], "has 4 steps"), (["--decode", 2], "")):
            done = self.assay("run", "m.onnx", "--onnxrt", *words, "--load-outputs", "golden.json", "--load-inputs", "ids.npz")
            self.assertEqual(done.returncode, 2 if line else 0, done.stderr)
            self.assertIn(line, done.stderr)
        np.savez(self.folder / "plain.npz", other=PROMPT)
        done = self.assay("run", "m.onnx", "--onnxrt", "--decode", 4, "--load-outputs", "plain.npz", "--load-inputs", "ids.npz")
        self.assertEqual((done.returncode, "has no `logits`" in done.stderr), (2, True), done.stderr)

    def test_steps_end_at_the_first_divergence_with_fail_fast(self):
        self.faulty_engine(cache="concat")
        report = self.decode("--onnxrt", "--trt-engine", "bad.engine", "--fail-fast", status=1)
        self.assertEqual(len(report["steps"]), FAULT_STEP + 1)

    def test_feeds_that_cannot_be_told_are_given_by_hand(self):
        for past in ("past{}_{}", "a{}_{}"):
            self.save(cache="concat", hides=True, past=past, present="z{}_{}")
            done = self.assay("run", "m.onnx", "--onnxrt", "--decode", 4)
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn(f"input `{past.format(0, 'key')}`: the output", done.stderr)
            self.assertIn("--feed", done.stderr)
        self.save(cache="concat", hides=True, past="past{}_{}", present="z{}_{}")
        pairs = [f"z{layer}_{word}=past{layer}_{word}" for layer in range(2) for word in ("key", "value")]
        report = self.decode("--onnxrt", "--ref", "--feed", *pairs)
        self.expect_tokens(report, decoders.Decoder(cache="concat").model())
        self.assertEqual({feed["origin"] for feed in report["feeds"] if feed["rule"] == "cache"}, {"given"})

    def test_caches_of_other_names_are_paired(self):
        model = self.save(cache="concat", past="{1}_cache_{0}_in", present="new_{1}_cache_{0}")
        self.expect_tokens(self.decode("--onnxrt", "--ref"), decoders.Decoder(cache="concat").model())
        self.assertEqual(len(model.graph.input), 7)

    def test_prompts_are_generated(self):
        self.save(cache="concat")
        done = self.assay("run", "m.onnx", "--onnxrt", "--ref", "--decode", 3, "--input-shapes", "input_ids:[2,6]",
                          "--json", "report.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual((report["prompt_tokens"], report["rows"], len(report["steps"])), (6, 2, 3))

    def test_wrong_words(self):
        self.save(cache="scatter")
        np.savez(self.folder / "other.npz", ids=PROMPT)
        for words, line in (
                (["--decode", 0], "--decode"),
                (["--teacher", "onnxrt"], "--teacher needs --decode"),
                (["--prompt-model", "m.onnx"], "--prompt-model needs --decode"),
                (["--decode", 4, "--teacher", "openvino"], "`openvino` is none of the sides"),
                (["--decode", 4, "--feed", "logits"], "expected OUT=IN"),
                (["--decode", 4, "--feed", "logit=input_ids"], "did you mean `logits`?"),
                (["--decode", 4, "--iterations", 2], "--iterations cannot be used with --decode"),
                (["--decode", 4, "--load-inputs", "other.npz"], "`input_ids`"),
                (["--decode", 400], "has room for 48 tokens")):
            done = self.assay("run", "m.onnx", "--onnxrt", *words)
            self.assertEqual(done.returncode, 2, f"{words}: {done.stdout}")
            self.assertIn(line, done.stderr)


if __name__ == "__main__":
    unittest.main()
