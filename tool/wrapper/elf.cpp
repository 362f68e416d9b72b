// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/elf.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include "tool/wrapper/archive.h"
#include "tool/wrapper/mapped.h"

namespace hvdize::wrapper {
namespace {

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr unsigned char kByteOrder = ELFDATA2LSB;
#else
constexpr unsigned char kByteOrder = ELFDATA2MSB;
#endif

/// The table of sections of an ELF file.
struct Table {
  Elf64_Ehdr header{};
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

/// Compilers that leave the code to the linker say so in a section or a symbol.
bool leavesCode(std::string_view bytes, const Table& t) {
  const std::string_view names = t.contentOf(bytes, t.names);
  for (const Elf64_Shdr& s : t.sections)
    if (s.sh_name < names.size() && names.substr(s.sh_name, 9) == ".gnu.lto_") return true;
  return false;
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
  Archive archive;
  if (!parseArchive(mapped.bytes(), file, archive)) {
    if (std::string section = sectionOf(mapped.bytes(), name); !section.empty()) found.push_back({file, std::move(section)});
    return found;
  }
  for (const Archive::Entry& e : archive.members)
    if (archive.thin)
      for (Member& m : readSections(e.path, name)) found.push_back({file, std::move(m.section), e.at});
    else if (std::string s = sectionOf(e.content, name); !s.empty()) found.push_back({file, std::move(s), e.at});
  return found;
}

bool definedSymbols(std::string_view bytes, std::vector<std::string>& symbols) {
  Table t;
  if (!readTable(bytes, t) || leavesCode(bytes, t)) return false;
  for (size_t i = 0; i < t.sections.size(); ++i) {
    const Elf64_Shdr& section = t.sections[i];
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= t.sections.size()) continue;
    const std::string_view table = t.contentOf(bytes, i), names = t.contentOf(bytes, section.sh_link);
    for (size_t at = sizeof(Elf64_Sym) * section.sh_info; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym s;
      std::memcpy(&s, table.data() + at, sizeof s);
      if (s.st_shndx == SHN_UNDEF || ELF64_ST_BIND(s.st_info) == STB_LOCAL || s.st_name >= names.size()) continue;
      symbols.emplace_back(names.substr(s.st_name, names.find('\0', s.st_name) - s.st_name));
    }
  }
  return true;
}

}  // namespace hvdize::wrapper
