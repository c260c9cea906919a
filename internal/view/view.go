// Package view turns reports into what people read and machines parse. It knows reports alone: nothing here renders,
// reads a repository, or decides an exit code.
package view
