// Comma-separated tables with a header line and quoted fields.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace calibrate::profile {

class Table {
 public:
  // Throws ProfileError when the file cannot be read or a row has too few fields.
  explicit Table(const std::filesystem::path& file);

  std::size_t rows() const { return rows_.size(); }
  // Throws ProfileError, naming the file, when there is no such column.
  std::size_t column(const std::string& name) const;
  const std::string& text(std::size_t row, std::size_t column) const { return rows_[row][column]; }
  // Empty or not a number: nothing.
  std::optional<double> number(std::size_t row, std::size_t column) const;

 private:
  std::string file_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace calibrate::profile
