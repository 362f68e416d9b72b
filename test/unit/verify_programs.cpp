// SPDX-License-Identifier: Apache-2.0
//
// hvd-verify as a whole, on shell scripts instead of trainers, and the process runner below it.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tool/compare/process.h"
#include "tool/compare/report.h"
#include "tool/compare/table.h"
#include "tool/compare/verify.h"

namespace hvdize::compare {
namespace verify_programs_test {
namespace {

namespace fs = std::filesystem;

class VerifyPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "hvd-verify-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    adoptOrphans();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> script(const std::string& text) { return {"/bin/sh", "-c", text}; }

  // What verify prints goes to the test's output; its rows are read back.
  ExitCode verifyScripts(const std::string& sequential, const std::string& distributed) {
    Options options;
    options.ranks = {1};
    options.timeoutSeconds = 20;
    options.sequential = script(sequential);
    options.distributed = script(distributed);
    options.rowsFile = (folder_ / "rows").string();
    options.label = "test";
    ::testing::internal::CaptureStdout();
    const ExitCode code = verify(options, "mpirun");
    printed_ = ::testing::internal::GetCapturedStdout();
    return code;
  }

  ProcessResult runScript(const std::string& text, double timeout) {
    ProcessRequest request;
    request.command = script(text);
    request.directory = folder_.string();
    request.outputFile = (folder_ / "out").string();
    request.errorFile = (folder_ / "err").string();
    request.timeoutSeconds = timeout;
    return run(request);
  }

  fs::path folder_;
  std::string printed_;
};

TEST_F(VerifyPrograms, EqualProgramsAreEqual) {
  const std::string text = "echo loss 0.5; echo a,b > log.csv; printf '\\001\\000' > raw.bin";
  EXPECT_EQ(verifyScripts(text, text), ExitCode::Equal) << printed_;
  EXPECT_EQ(readFile((folder_ / "rows").string()), "test\t1\tidentical\t2 identical\t-\t-\tequal\n");
}

TEST_F(VerifyPrograms, OtherOutputIsDifferent) {
  EXPECT_EQ(verifyScripts("echo loss 0.5", "echo loss 0.6"), ExitCode::Different);
  EXPECT_NE(printed_.find("standard output, line 1, column 8"), std::string::npos) << printed_;
}

TEST_F(VerifyPrograms, OtherFilesAreDifferent) {
  EXPECT_EQ(verifyScripts("echo 1 > a", "echo 2 > a"), ExitCode::Different);
  EXPECT_NE(printed_.find("a:1:1: '1', in the distributed run '2'"), std::string::npos) << printed_;
  EXPECT_EQ(verifyScripts("mkdir d; echo 1 > d/a", "true"), ExitCode::Different);
  EXPECT_NE(printed_.find("d/a: missing in the distributed run"), std::string::npos) << printed_;
  EXPECT_EQ(verifyScripts("true", "echo 1 > a"), ExitCode::Different);
  EXPECT_NE(printed_.find("a: written by the distributed run only"), std::string::npos) << printed_;
  EXPECT_EQ(verifyScripts("printf '\\000\\001' > a", "printf '\\000\\002' > a"), ExitCode::Different);
  EXPECT_NE(printed_.find("a: byte 1 of 2 differs"), std::string::npos) << printed_;
}

TEST_F(VerifyPrograms, AFailureShowsTheReason) {
  EXPECT_EQ(verifyScripts("true", "echo no data >&2; exit 4"), ExitCode::ProgramFailed);
  EXPECT_NE(printed_.find("exit status 4, 0 was expected"), std::string::npos) << printed_;
  EXPECT_NE(printed_.find("no data"), std::string::npos) << printed_;
  EXPECT_EQ(verifyScripts("exit 1", "exit 1"), ExitCode::ProgramFailed);
  EXPECT_NE(printed_.find("the sequential program: exit status 1"), std::string::npos) << printed_;
}

TEST_F(VerifyPrograms, ProcessesLeftBehindAreAFailure) {
  EXPECT_EQ(verifyScripts("true", "setsid sleep 100 & true"), ExitCode::ProgramFailed);
  EXPECT_NE(printed_.find("it left 1 processes behind"), std::string::npos) << printed_;
}

TEST_F(VerifyPrograms, AProgramThatHangsIsKilledWithItsChildren) {
  const ProcessResult result = runScript(
      "setsid sh -c 'trap \"\" TERM; echo $$ > pid; while true; do sleep 1; done' & trap '' TERM; while true; do sleep 1; done", 1);
  EXPECT_TRUE(result.timedOut);
  const pid_t child = static_cast<pid_t>(std::stol(readFile((folder_ / "pid").string())));
  EXPECT_NE(kill(child, 0), 0) << "the child is still there";
}

TEST_F(VerifyPrograms, StatusOfTheProgram) {
  EXPECT_EQ(runScript("exit 7", 20).status, 7);
  EXPECT_EQ(runScript("kill -9 $$", 20).status, 137);
  ProcessRequest request;
  request.command = {"/no/such/program"};
  request.directory = folder_.string();
  request.outputFile = (folder_ / "out").string();
  request.errorFile = (folder_ / "err").string();
  EXPECT_EQ(run(request).status, 127);
}

TEST(VerifyTable, ColumnsAreAligned) {
  EXPECT_EQ(renderTable({{"a", "bb"}, {"\xC3\xA9t\xC3\xA9", "x"}}), "a    bb\n---  --\n\xC3\xA9t\xC3\xA9  x\n");
}

}  // namespace
}  // namespace verify_programs_test
}  // namespace hvdize::compare
