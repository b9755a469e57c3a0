// Adapter to the system's files. A journal is a file of lines that only grows. Each line is
// "checksum text", the checksum going on from the line before, so that no line can be changed,
// lost or moved unnoticed but the last. After journal_append() the line is on the disk. Whoever
// writes holds the file locked; so does, shared, whoever reads. Links are followed, and what is no
// regular file is refused.
#ifndef GPB_R_JOURNAL_FILE_H
#define GPB_R_JOURNAL_FILE_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpb {

// A journal's last whole line.
struct JournalEnd {
  double size = 0.0;           // bytes up to its end
  double line = 0.0;           // its own
  bool open = false;           // its newline is missing
  std::uint32_t checksum = 0;
};

struct JournalContents {
  std::vector<std::string> lines;  // without their checksums
  JournalEnd end;
  std::size_t damaged = 0;         // number of the first damaged line, 0: none
  bool damaged_last = false;       // no whole line stands after it
};

// A new file of one line; complete, or not there at all.
JournalEnd journal_create(const std::string& path, const std::string& text);
// Appends a line; a line after `end` that was never finished is cut off before. If that fails, the
// line does not stand in the file, and std::runtime_error says why. So it does if the file does not
// end as `end` has it: somebody else has written to it.
JournalEnd journal_append(const std::string& path, const std::string& text, const JournalEnd& end);
JournalContents journal_read(const std::string& path);

}  // namespace gpb

#endif
