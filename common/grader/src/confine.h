// What the process that runs a learner's code may not do.
#pragma once

namespace grader {

// From here on this process, and what it starts, writes, makes and removes no file but in /dev and of itself in /proc, and signals no
// process that it has not started. That is Landlock's work; a kernel before Linux 5.13, or one without it, confines nothing, and one before
// 6.12 lets signals through.
void confine();

}  // namespace grader
