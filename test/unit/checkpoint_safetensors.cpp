// SPDX-License-Identifier: Apache-2.0
#include "data_support.hpp"

#include <hvd/checkpoint.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace checkpoint_safetensors_test {
namespace {

using namespace data_test;
using hvd::Tensor;

std::string file_with_header(const std::string& header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

std::map<std::string, Tensor> some_tensors() {
  return {{"w", hvd::tensor({1.5, -2.0, 0.25}, hvd::kFloat32).view({3, 1})},
          {"big", hvd::tensor({1e300, -0.0}, hvd::kFloat64)},
          {"n", hvd::tensor(hvd::Scalar(int64_t{1} << 60))},
          {"mask", hvd::tensor({1.0, 2.0}).gt(1.5)},
          {"none", hvd::zeros({0, 4})}};
}

TEST(CheckpointSafetensors, WhatIsWrittenIsRead) {
  const ScratchDir dir;
  const std::string path = dir / "a.safetensors";
  hvd::save_tensors(path, some_tensors(), {{"note", "line\n\"two\""}});
  const auto read = hvd::load_tensors(path);
  ASSERT_EQ(read.size(), 5u);
  for (const auto& [name, tensor] : some_tensors()) EXPECT_TRUE(hvd::equal(read.at(name), tensor)) << name;
  EXPECT_EQ(hvd::load_metadata(path).at("note"), "line\n\"two\"");
  EXPECT_EQ(dir.files(), 1u) << "no temporary file is left";
  EXPECT_EQ(read_bytes(path).substr(0, 8).size(), 8u);
}

TEST(CheckpointSafetensors, BytesAreThoseOfTheFormat) {
  const ScratchDir dir;
  const std::string path = dir / "a.safetensors";
  hvd::save_tensors(path, {{"x", hvd::tensor({1, 2})}});
  const std::string header = R"({"x":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  std::string expected = file_with_header(padded, 16);
  expected[expected.size() - 16] = 1;
  expected[expected.size() - 8] = 2;
  EXPECT_EQ(read_bytes(path), expected);
}

TEST(CheckpointSafetensors, ViewsAreWrittenAsTheyLook) {
  const ScratchDir dir;
  const Tensor whole = hvd::arange(6, hvd::kFloat64).view({2, 3});
  hvd::save_tensors(dir / "t", {{"t", whole.t()}});
  EXPECT_TRUE(hvd::equal(hvd::load_tensors(dir / "t").at("t"), whole.t().contiguous()));
}

TEST(CheckpointSafetensors, EveryTruncationIsRefused) {
  const ScratchDir dir;
  hvd::save_tensors(dir / "whole", some_tensors());
  const std::string whole = read_bytes(dir / "whole");
  for (size_t length = 0; length < whole.size(); length += 7) {
    write_bytes(dir / "cut", whole.substr(0, length));
    expect_error([&] { hvd::load_tensors(dir / "cut"); }, {dir / "cut", "truncated"});
  }
  write_bytes(dir / "cut", whole + "x");
  expect_error([&] { hvd::load_tensors(dir / "cut"); }, {dir / "cut", "1 bytes after the last tensor"});
}

TEST(CheckpointSafetensors, BadHeadersAreRefused) {
  const ScratchDir dir;
  const struct {
    const char* header;
    size_t bytes;
    const char* message;
  } cases[] = {
      {"{\"a\":", 0, "not JSON"},
      {"[1]", 0, "not a JSON object"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "tensor 'a' has no dtype"},
      {R"({"a":{"dtype":"I16","shape":[1],"data_offsets":[0,2]}})", 2, "dtype I16"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "tensor 'a' has no shape"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "tensor 'a' has no shape"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "tensor 'a' has no data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "tensor 'a' [2] of F32 has 4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0, "tensor 'a'"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "overlap or leave gaps"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4, "overlap"},
      {R"({"__metadata__":{"k":1}})", 0, "metadata 'k' is not a string"},
  };
  for (const auto& c : cases) {
    write_bytes(dir / "bad", file_with_header(c.header, c.bytes));
    expect_error([&] { hvd::load_tensors(dir / "bad"); }, {dir / "bad", "not a valid safetensors file", c.message});
  }
  write_bytes(dir / "bad", std::string(64, '\x7f'));
  expect_error([&] { hvd::load_tensors(dir / "bad"); }, {dir / "bad", "header would be"});
}

TEST(CheckpointSafetensors, UnreadablePathsAreNamed) {
  const ScratchDir dir;
  expect_error([&] { hvd::load_tensors(dir / "missing"); }, {"cannot read", dir / "missing", "No such file"});
  expect_error([&] { hvd::load_tensors(dir.path()); }, {"cannot read", dir.path(), "directory"});
}

TEST(CheckpointSafetensors, UnwritablePathsAreNamedAndLeaveNothing) {
  const ScratchDir dir;
  expect_error([&] { hvd::save_tensors(dir / "no/such/folder/x", some_tensors()); }, {"cannot write", dir / "no/such/folder/x", "No such file"});
  expect_error([&] { hvd::save_tensors(dir.path(), some_tensors()); }, {"cannot write", dir.path(), "directory"});
  expect_error([&] { hvd::save_tensors("/dev/full", some_tensors()); }, {"cannot write '/dev/full'", "No space left"});
  expect_error([&] { hvd::save_tensors(dir / "x", {{"undefined", Tensor()}}); }, {"'undefined' is undefined"});
  EXPECT_EQ(dir.files(), 0u);
}

TEST(CheckpointSafetensors, DevicesAreNotReplaced) {
  hvd::save_tensors("/dev/null", some_tensors());
  struct stat info {};
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST(CheckpointSafetensors, LinksStayLinks) {
  const ScratchDir dir;
  hvd::save_tensors(dir / "first", {{"x", hvd::zeros({1})}});
  ASSERT_EQ(::symlink((dir / "first").c_str(), (dir / "link").c_str()), 0);
  hvd::save_tensors(dir / "link", {{"y", hvd::zeros({1})}});
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  EXPECT_EQ(hvd::load_tensors(dir / "first").count("y"), 1u);
}

}  // namespace
}  // namespace checkpoint_safetensors_test
