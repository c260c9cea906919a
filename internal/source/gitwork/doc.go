// Package gitwork answers the two questions that git is asked about the files of a work tree: is this path tracked, and if not, does git
// ignore it. It reads the files git reads (index, configuration, ignore files) and starts no process.
//
// The rules are:
//   - A directory belongs to the nearest enclosing directory whose ".git" is a repository, or a file that leads to one (linked work
//     trees and submodules).
//   - What the index names is tracked, whatever the patterns say.
//   - Patterns are consulted in git's order, and the last one that matches decides: the .gitignore files from the deepest directory up
//     to the root of the work tree, then $GIT_COMMON_DIR/info/exclude, then core.excludesFile.
//   - Nothing below an ignored directory can be re-included, and .gitignore files below it are not read.
//   - A .gitignore that is a symbolic link is not read (git 2.32 and later).
//   - Paths and patterns are bytes: "?" is one byte.
//
// Where git changed its mind, the documentation of gitignore(5) decides: "foo**/bar" is an ordinary asterisk, as documented and as git does
// since 2.52, although older versions took it for "foo" followed by any number of directories.
//
// Known limits: a split index is not read (ErrSplitIndex); a .gitignore that sparse checkout left out of the work tree is not read from
// the object store; of the conditions of includeIf only gitdir and gitdir/i are evaluated; the environment variables that move a
// repository (GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE) are deliberately not followed, because a path was named.
//
// Sources: git's dir.c, wildmatch.c, setup.c, config.c and gitformat-index(5).
package gitwork
