#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "sweep/folder.h"
#include "sweep/journal.h"
#include "sweep/keys.h"
#include "sweep/share.h"
#include "sweep/signature.h"
#include "sweep/statistics.h"
#include "sweep/summary.h"

namespace assay::sweep {
namespace {

using results::UnitStatus;

TEST(SweepSignature, names_and_numbers_are_left_out) {
  EXPECT_EQ(signature("node `a/b_3` (Add): shapes [2,3,4] and [3] do not broadcast"),
            "node `…` (Add): shapes [N] and [N] do not broadcast");
  EXPECT_EQ(signature("float16 of conv2d takes 0x1f bytes, 1.5 GB"), "float16 of conv2d takes N bytes, N GB");
  EXPECT_EQ(signature("an open ` stays"), "an open ` stays");
}

TEST(SweepSignature, errors_have_classes) {
  EXPECT_EQ(status_of(Error(ErrorCode::parse, "byte 2")), UnitStatus::bad_input);
  EXPECT_EQ(status_of(Error(ErrorCode::unsupported, "no kernel")), UnitStatus::refused);
  EXPECT_EQ(status_of(Error(ErrorCode::limit, "it needs 8 TB of memory")), UnitStatus::memory);
  EXPECT_EQ(status_of(Error(ErrorCode::limit, "gave no answer within 3 s")), UnitStatus::timeout);
  EXPECT_EQ(status_of(Error(ErrorCode::limit, "the loop did not end within 100 iterations")), UnitStatus::refused);
  EXPECT_EQ(status_of(Error(ErrorCode::backend, "the process of onnxrt was killed by signal 11")), UnitStatus::died);
  EXPECT_EQ(status_of(Error(ErrorCode::cancelled, "ended")), UnitStatus::cancelled);
}

Share share_of(std::string_view text, const std::map<std::string, std::string>& variables = {}) {
  return parse_share(text, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(SweepShare, says_which_part) {
  EXPECT_EQ(share_of("2/5").index, 2u);
  EXPECT_EQ(share_of("2/5").count, 5u);
  EXPECT_EQ(share_of("").count, 1u);
  EXPECT_EQ(share_of("", {{"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_ARRAY_TASK_COUNT", "4"}, {"SLURM_ARRAY_TASK_MIN", "5"}})
                .index,
            2u);
  const Share stepped = share_of("auto", {{"SLURM_ARRAY_TASK_ID", "9"},
                                          {"SLURM_ARRAY_TASK_COUNT", "3"},
                                          {"SLURM_ARRAY_TASK_MIN", "5"},
                                          {"SLURM_ARRAY_TASK_STEP", "2"}});
  EXPECT_EQ(stepped.index, 2u);
  const std::map<std::string, std::string> mpi = {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}};
  EXPECT_EQ(share_of("", mpi).index, 3u);
  EXPECT_EQ(share_of("", mpi).count, 8u);
  EXPECT_EQ(share_of("0/1", mpi).count, 1u);
  const std::map<std::string, std::string> mpich = {{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}};
  EXPECT_EQ(share_of("", mpich).index, 2u);
  EXPECT_EQ(share_of("auto", mpich).count, 3u);
  const std::map<std::string, std::string> step = {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}};
  EXPECT_EQ(share_of("auto", step).index, 1u);
  EXPECT_EQ(share_of("auto", step).count, 2u);
  EXPECT_EQ(share_of("", step).count, 1u);  // a batch script has them, too
  const std::map<std::string, std::string> kubernetes = {{"JOB_COMPLETION_INDEX", "1"}};
  EXPECT_EQ(share_of("auto/3", kubernetes).index, 1u);
  EXPECT_EQ(share_of("", kubernetes).count, 1u);
  EXPECT_THROW(share_of("auto", kubernetes), Error);
  EXPECT_THROW(share_of("auto"), Error);
  for (const char* const bad : {"3/3", "1/0", "1", "a/b", "-1/2", "1/2/3", "/"})
    EXPECT_THROW(share_of(bad), Error) << bad;
}

results::SweepPlan small_plan() {
  results::SweepPlan plan;
  plan.schema = "assay/sweep-plan/1";
  plan.version = "1";
  plan.models = {{"a.onnx", "1234"}, {"b.onnx", "5678"}};
  plan.columns = {{"original", "ref", "1"}, {"fp16", "ref", "1"}};
  plan.shards = {{0, 4, "d", ""}, {4, 6, "e", ""}};
  plan.metrics = {"top1"};
  return plan;
}

TEST(SweepKeys, all_that_decides_a_result_is_in_the_key) {
  const results::SweepPlan plan = small_plan();
  const std::string key = unit_key(plan, {0, 1, 0});
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(unit_key(small_plan(), {0, 1, 0}), key);
  const auto changed = [&](auto&& change) {
    results::SweepPlan other = small_plan();
    change(other);
    return unit_key(other, {0, 1, 0});
  };
  EXPECT_NE(changed([](auto& p) { p.models[0].digest = "x"; }), key);
  EXPECT_NE(changed([](auto& p) { p.columns[1].version = "2"; }), key);
  EXPECT_NE(changed([](auto& p) { p.columns[0].version = "2"; }), key);
  EXPECT_NE(changed([](auto& p) { p.shards[0].digest = "x"; }), key);
  EXPECT_NE(changed([](auto& p) { p.options = "--atol 1"; }), key);
  EXPECT_NE(changed([](auto& p) { p.version = "2"; }), key);
  EXPECT_NE(changed([](auto& p) { p.machine = "x"; }), key);
  EXPECT_EQ(changed([](auto& p) { p.models[0].path = "other/name.onnx"; }), key);
  EXPECT_EQ(units_of(plan).size(), 8u);
}

results::SweepUnit unit(const results::SweepPlan& plan, const UnitAt& at, double hits) {
  results::SweepUnit made = blank_unit(plan, at);
  made.samples = plan.shards[at.shard].end - plan.shards[at.shard].begin;
  made.evidence = {{"top1", results::Evidence(made.samples, {hits, 1})}};
  return made;
}

TEST(SweepJournal, the_first_whole_record_of_a_key_counts) {
  const TemporaryFolder folder;
  const results::SweepPlan plan = small_plan();
  const std::filesystem::path path = journal_folder(folder.path()) / "w0.jsonl";
  {
    JournalWriter writer(path);
    results::SweepUnit first = unit(plan, {0, 0, 0}, 1);
    first.seconds = 0.1;
    writer.add(first);
    first.status = UnitStatus::differs;
    writer.add(first);
  }
  std::ofstream(path, std::ios::app) << journal_line(unit(plan, {0, 0, 1}, 1)).substr(0, 50);
  Journal journal = read_journal(folder.path());
  EXPECT_EQ(journal.units.size(), 1u);
  EXPECT_EQ(journal.torn_lines, 1u);
  EXPECT_EQ(journal.units.begin()->second.status, UnitStatus::same);
  EXPECT_EQ(journal.units.begin()->second.seconds, 0.1);
  JournalWriter(path).add(unit(plan, {0, 0, 1}, 1));
  journal = read_journal(folder.path());
  EXPECT_EQ(journal.units.size(), 2u);
  EXPECT_EQ(journal.torn_lines, 1u);
}

TEST(SweepJournal, another_version_is_refused) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(journal_folder(folder.path()));
  std::ofstream(journal_folder(folder.path()) / "w0.jsonl") << "{\"schema\": \"assay/sweep-journal/9\"}\n";
  EXPECT_THROW(read_journal(folder.path()), Error);
}

TEST(SweepFolder, one_sweep_at_a_time) {
  const TemporaryFolder folder;
  EXPECT_FALSE(FolderLock::is_held(folder.path()));
  {
    const FolderLock whole(folder.path(), {});
    EXPECT_TRUE(FolderLock::is_held(folder.path()));
    EXPECT_THROW(FolderLock(folder.path(), {}), Error);
    EXPECT_THROW(FolderLock(folder.path(), {0, 2}), Error);
  }
  const FolderLock first(folder.path(), {0, 2});
  const FolderLock second(folder.path(), {1, 2});
  EXPECT_THROW(FolderLock(folder.path(), {1, 2}), Error);
  EXPECT_THROW(FolderLock(folder.path(), {}), Error);
}

TEST(SweepSummary, shards_are_put_together) {
  const results::SweepPlan plan = small_plan();
  Journal journal;
  const auto add = [&](const UnitAt& at, double hits, double max_abs) {
    results::SweepUnit made = unit(plan, at, hits);
    made.difference =
        results::UnitDifference{.compared = made.samples, .failed = 1, .max_abs = max_abs, .sample = at.shard};
    made.status = UnitStatus::differs;
    made.signature = "output of Add differs";
    journal.units.emplace(made.key, made);
  };
  add({0, 0, 0}, 1, 0.25);
  add({0, 0, 1}, 0, 0.5);
  add({0, 1, 0}, 1, 0.125);
  const results::SweepReport report = summarize(plan, journal, "folder");
  EXPECT_EQ(report.unit_count, 8u);
  EXPECT_EQ(report.pending_count, 5u);
  ASSERT_EQ(report.rows.size(), 4u);
  EXPECT_EQ(report.rows[0].samples, 6u);
  EXPECT_EQ(report.rows[0].difference->failed, 2u);
  EXPECT_EQ(report.rows[0].difference->max_abs, 0.5);
  EXPECT_EQ(report.rows[0].difference->sample, 1u);
  ASSERT_EQ(report.causes.size(), 1u);
  EXPECT_EQ(report.causes[0].count, 3u);
  EXPECT_EQ(report.causes[0].models, std::vector<std::string>{"a.onnx"});
  ASSERT_EQ(report.metrics.size(), 2u);
  EXPECT_EQ(report.metrics[0].value, 4.0 / 6);
  ASSERT_TRUE(report.metrics[1].paired);
  EXPECT_EQ(report.metrics[1].paired->difference, 0);  // on the four samples that both have
  EXPECT_EQ(report.metrics[1].paired->p_value, 1);
}

TEST(SweepSummary, rows_that_no_metric_gives_are_left_out) {
  const results::SweepPlan plan = small_plan();
  Journal journal;
  results::SweepUnit made = unit(plan, {0, 0, 0}, 1);
  made.evidence[0].second[1] = {1};
  journal.units.emplace(made.key, made);
  EXPECT_TRUE(summarize(plan, journal, "folder").metrics.empty());
  EXPECT_FALSE(make_metric("map")->is_row({2, 0, 1}));
  EXPECT_TRUE(make_metric("map")->is_row({1, 0, 1, 0, 0.5, 1023}));
  EXPECT_FALSE(make_metric("f1")->is_row({1, 0}));
}

TEST(SweepFolder, a_plan_of_nothing_is_refused) {
  const TemporaryFolder folder;
  EXPECT_THROW(load_plan(folder.path()), Error);
  results::SweepPlan plan = small_plan();
  save_plan(folder.path(), plan);
  EXPECT_EQ(load_plan(folder.path()).models.size(), 2u);
  plan.columns.clear();
  save_plan(folder.path(), plan);
  EXPECT_THROW(load_plan(folder.path()), Error);
}

TEST(SweepStatistics, intervals_and_sign_tests) {
  const MetricPtr metric = make_metric("top1");
  const results::Evidence same(8, {1, 1});
  const Interval sure = score_with_interval(*metric, same);
  EXPECT_EQ(sure.value, 1);
  EXPECT_EQ(sure.low, 1);
  results::Evidence a;
  results::Evidence b;
  for (int i = 0; i < 40; ++i) {
    a.push_back({i % 2 == 0 ? 1.0 : 0.0, 1});
    b.push_back({i % 2 == 0 && i >= 10 ? 1.0 : 0.0, 1});
  }
  // Of 40 samples 5 are right on the one side alone: 2 / 2^5.
  EXPECT_NEAR(sign_test(a, b), 0.0625, 1e-12);
  EXPECT_EQ(sign_test(a, a), 1);
  const Interval difference = difference_with_interval(*metric, a, b);
  EXPECT_DOUBLE_EQ(difference.value, 0.125);
  EXPECT_LT(difference.low, 0.125);
  EXPECT_GT(difference.high, 0.125);
  EXPECT_GE(difference.low, 0);
}

}  // namespace
}  // namespace assay::sweep
