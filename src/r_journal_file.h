// Adapter to the system's files for journals: files of lines to which lines are only appended.
//
// Each line is "checksum text". The checksum includes that of the line before, so that a changed, lost or moved line is
// detected, except for the last one. After journal_append() the line is on the disk. The file is locked while a process
// writes (exclusively) or reads (shared). Links are followed. It is an error if the file is not a regular file.
#ifndef GPB_R_JOURNAL_FILE_H
#define GPB_R_JOURNAL_FILE_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpb {

// The last complete line of a journal.
struct JournalEnd {
  double size = 0.0;           // bytes up to its end
  double line = 0.0;           // its number
  bool open = false;           // its newline is missing
  std::uint32_t checksum = 0;
};

struct JournalContents {
  std::vector<std::string> lines;  // without their checksums
  JournalEnd end;
  std::size_t damaged = 0;         // number of the first damaged line, 0: none
  bool damaged_last = false;       // no complete line follows
};

// Creates a new file of one line, either completely or not at all.
JournalEnd journal_create(const std::string& path, const std::string& text);
// Appends a line. An unfinished line after `end` is removed first. If appending fails, the line is not in the file, and
// std::runtime_error gives the reason. It is also an error if the file does not end as described by `end`, because
// another process has written to it.
JournalEnd journal_append(const std::string& path, const std::string& text, const JournalEnd& end);
JournalContents journal_read(const std::string& path);

}  // namespace gpb

#endif
