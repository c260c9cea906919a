// Package architecture holds the drawing of docs/architecture.md against the code: which room may use which, and what
// must never come into the program. It has tests alone.
package architecture
