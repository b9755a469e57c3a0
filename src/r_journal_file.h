// Adapter to the system's files. A journal is a file of lines that only grows. Each line is
// "checksum text", the checksum going on from the line before, so that no line can be changed,
// lost or moved unnoticed but the last. After journal_append() the line is on the disk.
#ifndef GPB_R_JOURNAL_FILE_H
#define GPB_R_JOURNAL_FILE_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpb {

// Where a journal's last whole line ends.
struct JournalEnd {
  double size = 0.0;           // bytes up to there
  double torn = 0.0;           // bytes after it, of a line that was never finished
  std::uint32_t checksum = 0;  // of the last whole line
};

struct JournalContents {
  std::vector<std::string> lines;  // without their checksums
  JournalEnd end;
  std::size_t damaged = 0;         // number of the first damaged line, 0: none
  bool damaged_last = false;       // no whole line stands after it
};

// A new file of one line; complete, or not there at all.
JournalEnd journal_create(const std::string& path, const std::string& text);
// Cuts off what is torn and appends a line. If that fails, the file is as it was, and
// std::runtime_error says why.
JournalEnd journal_append(const std::string& path, const std::string& text, const JournalEnd& end);
JournalContents journal_read(const std::string& path);

}  // namespace gpb

#endif
