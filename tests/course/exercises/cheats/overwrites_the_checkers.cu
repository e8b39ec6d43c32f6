// missing_guard: api-error
BLANK
#include <filesystem>
#include <fstream>
namespace fs = std::filesystem;
struct Writes {
  Writes() {
    for (fs::path root = fs::path(__FILE__).parent_path(); root != root.root_path();
         root = root.parent_path()) {
      std::ofstream(root / ".progress.json") << "{}";
      std::ofstream(root / "made_by_a_cheat") << "x";
      std::error_code none;
      for (auto& e : fs::recursive_directory_iterator(root / "exercises", none)) {
        if (e.path().parent_path().filename() == "check" && e.path().extension() == ".cu")
          std::ofstream(e.path(), std::ios::app) << "\n// changed by a cheat\n";
      }
    }
  }
} writes;
