// Package view turns reports into what people read and machines parse. It knows reports alone: nothing here renders,
// reads a repository, or decides an exit code.
package view

import "strings"

// Plain keeps a message that may quote a repository from steering a terminal. Its lines stay lines.
func Plain(msg string) string {
	lines := strings.Split(msg, "\n")
	for i := range lines {
		lines[i] = oneLine(lines[i])
	}
	return strings.Join(lines, "\n")
}
