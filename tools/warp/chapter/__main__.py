"""What an author asks of a chapter: python3 tools/warp/chapter COMMAND CHAPTER, a number, a folder or a file."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])

from warp.chapter.authors import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
