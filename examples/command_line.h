// SPDX-License-Identifier: Apache-2.0
//
// Options of the example trainers: each has a name, a default and a line of help.
#pragma once

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

class CommandLine {
 public:
  struct Option {
    std::string name, value, help;
    bool is_flag = false;
  };

  CommandLine(std::string program, std::vector<Option> options) : program_(std::move(program)), options_(std::move(options)) {}

  /// Ends the program for options that are unknown or have no value, and for --help.
  void parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      if (name == "--help") {
        std::cout << usage();
        std::exit(0);
      }
      Option& option = find(name);
      if (option.is_flag) {
        option.value = "yes";
      } else {
        if (i + 1 == argc) die("option " + name + " needs a value");
        option.value = argv[++i];
      }
    }
  }

  const std::string& text(const std::string& name) const { return const_cast<CommandLine*>(this)->find(name).value; }
  bool flag(const std::string& name) const { return !text(name).empty(); }

  long count(const std::string& name, long least) const {
    std::istringstream in(text(name));
    long value = 0;
    if (!(in >> value) || !in.eof() || value < least)
      die("option " + name + ": '" + text(name) + "' is not a whole number of at least " + std::to_string(least));
    return value;
  }

  double number(const std::string& name) const {
    std::istringstream in(text(name));
    double value = 0;
    if (!(in >> value) || !in.eof() || !(value >= 0)) die("option " + name + ": '" + text(name) + "' is not a number of at least 0");
    return value;
  }

  const std::string& one_of(const std::string& name, const std::vector<std::string>& known) const {
    std::string list;
    for (const std::string& k : known) {
      if (text(name) == k) return text(name);
      list += (list.empty() ? "" : ", ") + k;
    }
    die("option " + name + ": '" + text(name) + "' is none of " + list);
  }

 private:
  [[noreturn]] void die(const std::string& message) const {
    std::cerr << program_ << ": " << message << std::endl;
    std::exit(2);
  }

  Option& find(const std::string& name) {
    for (Option& option : options_)
      if (option.name == name) return option;
    die("unknown option '" + name + "'\n" + usage());
  }

  std::string usage() const {
    std::string out = "usage: " + program_ + " [options]\n";
    for (const Option& option : options_) {
      std::string line = "  " + option.name;
      line.resize(22, ' ');
      out += line + option.help + (option.value.empty() ? "" : " (" + option.value + ")") + "\n";
    }
    return out;
  }

  std::string program_;
  std::vector<Option> options_;
};
