// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/elf.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/wrapper/files.h"

namespace hvdize::wrapper {
namespace {

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr unsigned char kByteOrder = ELFDATA2LSB;
#else
constexpr unsigned char kByteOrder = ELFDATA2MSB;
#endif

/// A file's bytes, without reading those that nobody looks at.
class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat s;
    if (file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
      void* at = mmap(nullptr, static_cast<size_t>(s.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) bytes_ = {static_cast<const char*>(at), static_cast<size_t>(s.st_size)};
    }
    if (file >= 0) close(file);
  }
  ~Mapped() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

/// The table of sections of an ELF file.
struct Table {
  Elf64_Ehdr header;
  std::vector<Elf64_Shdr> sections;
  size_t names = 0;  // index of the section of names

  std::string_view contentOf(std::string_view bytes, size_t index) const {
    const Elf64_Shdr& s = sections[index];
    if (s.sh_type == SHT_NOBITS || s.sh_offset > bytes.size() || s.sh_size > bytes.size() - s.sh_offset) return {};
    return bytes.substr(s.sh_offset, s.sh_size);
  }
};

bool readTable(std::string_view bytes, Table& t) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) return false;
  std::memcpy(&t.header, bytes.data(), sizeof t.header);
  const auto& id = t.header.e_ident;
  if (std::memcmp(id, ELFMAG, SELFMAG) != 0 || id[EI_CLASS] != ELFCLASS64 || id[EI_DATA] != kByteOrder) return false;
  const uint64_t at = t.header.e_shoff;
  if (at == 0 || t.header.e_shentsize != sizeof(Elf64_Shdr) || at > bytes.size() || bytes.size() - at < sizeof(Elf64_Shdr)) return false;
  Elf64_Shdr first;
  std::memcpy(&first, bytes.data() + at, sizeof first);
  const uint64_t count = t.header.e_shnum ? t.header.e_shnum : first.sh_size;  // many sections: their number does not fit
  if (count == 0 || count > (bytes.size() - at) / sizeof(Elf64_Shdr)) return false;
  t.sections.resize(count);
  std::memcpy(t.sections.data(), bytes.data() + at, count * sizeof(Elf64_Shdr));
  t.names = t.header.e_shstrndx == SHN_XINDEX ? first.sh_link : t.header.e_shstrndx;
  return t.names < count;
}

std::string sectionOf(std::string_view bytes, const std::string& name) {
  Table t;
  if (!readTable(bytes, t)) return "";
  const std::string_view names = t.contentOf(bytes, t.names);
  std::string content;
  for (size_t i = 0; i < t.sections.size(); ++i) {
    const uint32_t at = t.sections[i].sh_name;
    if (at >= names.size() || names.size() - at <= name.size()) continue;
    if (names.compare(at, name.size(), name) == 0 && names[at + name.size()] == '\0') content += t.contentOf(bytes, i);
  }
  return content;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '/')) text.remove_suffix(1);
  return text;
}

/// The members of an archive: a header of 60 bytes and the content, on even offsets; long names stand in a member called "//".
void readArchive(const std::string& file, std::string_view bytes, bool thin, const std::string& name, std::vector<Member>& found) {
  std::string_view longNames;
  for (size_t at = 8; at + 60 <= bytes.size();) {
    std::string_view field = bytes.substr(at, 16);
    const size_t size = std::strtoull(std::string(bytes.substr(at + 48, 10)).c_str(), nullptr, 10);
    const bool table = field.substr(0, 2) == "//", symbols = field.substr(0, 2) == "/ " || field.substr(0, 7) == "/SYM64/";
    const bool stored = !thin || table || symbols;
    const size_t begin = at + 60;
    if (stored && size > bytes.size() - begin) return;
    if (table) longNames = bytes.substr(begin, size);
    if (!table && !symbols && thin && field[0] == '/') {
      std::string_view path = longNames.substr(std::min(longNames.size(), static_cast<size_t>(std::strtoull(std::string(field.substr(1)).c_str(), nullptr, 10))));
      path = trimmed(path.substr(0, path.find('\n')));
      for (Member& m : readSections(absolutePath(std::string(path), folderOf(file)), name)) found.push_back({file, std::move(m.section)});
    } else if (!table && !symbols && !thin) {
      if (std::string s = sectionOf(bytes.substr(begin, size), name); !s.empty()) found.push_back({file, std::move(s)});
    }
    at = begin + (stored ? size + size % 2 : 0);
  }
}

bool writeAt(int file, const void* data, size_t size, uint64_t offset) {
  return pwrite(file, data, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

}  // namespace

bool addSection(const std::string& file, const std::string& name, const std::string& content, bool excluded) {
  Table t;
  std::string names;
  uint64_t end = 0;
  {
    const Mapped mapped(file);
    if (!readTable(mapped.bytes(), t)) return false;
    names = t.contentOf(mapped.bytes(), t.names);
    end = (mapped.bytes().size() + 7) / 8 * 8;
  }
  Elf64_Shdr added{};
  added.sh_name = static_cast<uint32_t>(names.size());
  added.sh_type = SHT_PROGBITS;
  added.sh_flags = excluded ? SHF_EXCLUDE : 0;
  added.sh_offset = end;
  added.sh_size = content.size();
  added.sh_addralign = 1;
  names += name + '\0';
  t.sections[t.names].sh_offset = end + content.size();
  t.sections[t.names].sh_size = names.size();
  t.sections.push_back(added);
  const uint64_t table = (end + content.size() + names.size() + 7) / 8 * 8;
  t.header.e_shoff = table;
  if (t.header.e_shnum && t.sections.size() < SHN_LORESERVE) t.header.e_shnum = static_cast<uint16_t>(t.sections.size());
  else t.header.e_shnum = 0, t.sections[0].sh_size = t.sections.size();

  const int out = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (out < 0) return false;
  const bool written = writeAt(out, content.data(), content.size(), end) && writeAt(out, names.data(), names.size(), end + content.size()) &&
                       writeAt(out, t.sections.data(), t.sections.size() * sizeof(Elf64_Shdr), table) && writeAt(out, &t.header, sizeof t.header, 0);
  return close(out) == 0 && written;
}

std::vector<Member> readSections(const std::string& file, const std::string& name) {
  std::vector<Member> found;
  const Mapped mapped(file);
  const std::string_view bytes = mapped.bytes();
  if (bytes.substr(0, 8) == "!<arch>\n") readArchive(file, bytes, false, name, found);
  else if (bytes.substr(0, 8) == "!<thin>\n") readArchive(file, bytes, true, name, found);
  else if (std::string section = sectionOf(bytes, name); !section.empty()) found.push_back({file, std::move(section)});
  return found;
}

}  // namespace hvdize::wrapper
