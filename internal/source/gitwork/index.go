package gitwork

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// ErrSplitIndex is returned for an index of which only the changes are in the file (core.splitIndex).
var ErrSplitIndex = errors.New("split index: run git update-index --no-split-index to have it read")

// An Index is the set of paths that git tracks. It is immutable. The nil Index is empty.
type Index struct {
	files      []string // sorted bytewise, without submodules
	submodules []string // sorted bytewise
}

// ReadIndex reads the repository's index, versions 2 to 4. A repository without an index tracks nothing.
func (r *Repo) ReadIndex(c Config) (*Index, error) {
	path := filepath.Join(r.GitDir, "index")
	data, err := readRegular(path, maxIndexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return &Index{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	ix, err := ParseIndex(data, c.HashSize)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ix, nil
}

const (
	indexStatSize     = 40 // times, device, inode, mode, owner, size
	indexModeOffset   = 24
	indexExtended     = 0x4000
	indexNameMask     = 0x0fff
	modeTypeMask      = 0o170000
	modeSubmodule     = 0o160000
	indexHeaderSize   = 12
	maxIndexPathBytes = 1 << 16
)

// ParseIndex reads an index file. hashSize is the size of an object name: 20, or 32 in SHA-256 repositories. The trailing checksum is not
// verified: git does not either, and writes zeros there under index.skipHash.
func ParseIndex(data []byte, hashSize int) (*Index, error) {
	if len(data) < indexHeaderSize+hashSize || string(data[:4]) != "DIRC" {
		return nil, errors.New("not a git index file")
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("index version %d: versions 2 to 4 can be read", version)
	}
	p := indexParser{data: data[:len(data)-hashSize], pos: indexHeaderSize, version: version, hashSize: hashSize}
	// No entry is shorter than its fixed part, so a forged count cannot ask for much memory.
	if uint64(count)*uint64(indexStatSize+hashSize+2) > uint64(len(data)) {
		return nil, errTruncated
	}
	ix := &Index{files: make([]string, 0, count)}
	for range count {
		name, mode, err := p.entry()
		if err != nil {
			return nil, err
		}
		list := &ix.files
		if mode&modeTypeMask == modeSubmodule {
			list = &ix.submodules
		}
		// A path in conflict has up to three entries.
		if n := len(*list); n == 0 || (*list)[n-1] != name {
			*list = append(*list, name)
		}
	}
	if err := p.extensions(); err != nil {
		return nil, err
	}
	for _, list := range [][]string{ix.files, ix.submodules} {
		if !slices.IsSorted(list) {
			slices.Sort(list)
		}
	}
	return ix, nil
}

var errTruncated = errors.New("index file ends in the middle of an entry")

type indexParser struct {
	data     []byte
	pos      int
	version  uint32
	hashSize int
	prev     []byte
}

func (p *indexParser) entry() (name string, mode uint32, err error) {
	start := p.pos
	fixed := indexStatSize + p.hashSize + 2
	if len(p.data)-start < fixed {
		return "", 0, errTruncated
	}
	mode = binary.BigEndian.Uint32(p.data[start+indexModeOffset:])
	flags := binary.BigEndian.Uint16(p.data[start+fixed-2:])
	p.pos += fixed
	if flags&indexExtended != 0 {
		if p.version < 3 {
			return "", 0, errors.New("index version 2 with extended flags")
		}
		p.pos += 2
	}
	if p.pos > len(p.data) {
		return "", 0, errTruncated
	}
	if p.version == 4 {
		name, err = p.compressedName()
		return name, mode, err
	}
	rest := p.data[p.pos:]
	length := int(flags & indexNameMask)
	if length == indexNameMask { // longer than the field can say
		length = bytes.IndexByte(rest, 0)
	}
	if length < 0 || length > maxIndexPathBytes || length >= len(rest) {
		return "", 0, errTruncated
	}
	// One to eight NULs bring the entry to a multiple of eight bytes.
	size := p.pos + length - start
	p.pos = start + size + 8 - size%8
	if p.pos > len(p.data) {
		return "", 0, errTruncated
	}
	return string(rest[:length]), mode, nil
}

// compressedName reads a version 4 name: how many bytes to drop from the previous one, and what to append.
func (p *indexParser) compressedName() (string, error) {
	strip := 0
	for first := true; ; first = false {
		if p.pos >= len(p.data) {
			return "", errTruncated
		}
		c := p.data[p.pos]
		p.pos++
		if !first {
			strip++
		}
		strip = strip<<7 | int(c&0x7f)
		if strip > maxIndexPathBytes {
			return "", errors.New("index entry shortens its predecessor by more than that has")
		}
		if c&0x80 == 0 {
			break
		}
	}
	end := bytes.IndexByte(p.data[p.pos:], 0)
	if end < 0 {
		return "", errTruncated
	}
	if strip > len(p.prev) {
		return "", errors.New("index entry shortens its predecessor by more than that has")
	}
	p.prev = append(p.prev[:len(p.prev)-strip], p.data[p.pos:p.pos+end]...)
	if len(p.prev) > maxIndexPathBytes {
		return "", errors.New("index entry with a path of more than 64 KiB")
	}
	p.pos += end + 1
	return string(p.prev), nil
}

// extensions refuses what changes the meaning of the entries. A lower-case signature says so.
func (p *indexParser) extensions() error {
	for len(p.data)-p.pos >= 8 {
		sig, size := p.data[p.pos:p.pos+4], binary.BigEndian.Uint32(p.data[p.pos+4:])
		if uint64(size) > uint64(len(p.data)-p.pos-8) {
			return errors.New("index extension is longer than the file")
		}
		p.pos += 8 + int(size)
		switch {
		case string(sig) == "link":
			return ErrSplitIndex
		case string(sig) == "sdir":
			// Sparse index: directories outside the sparse cone are one entry "dir/", and are not in the work tree.
		case sig[0] < 'A' || sig[0] > 'Z':
			return fmt.Errorf("index extension %q is required to read the file, and unknown", sig)
		}
	}
	return nil
}

// Contains reports whether the file at path is tracked.
func (ix *Index) Contains(path string) bool {
	if ix == nil {
		return false
	}
	_, ok := slices.BinarySearch(ix.files, path)
	return ok
}

// HasDir reports whether a tracked file lies below the directory path.
func (ix *Index) HasDir(path string) bool {
	if ix == nil {
		return false
	}
	below := path + "/"
	for _, list := range [][]string{ix.files, ix.submodules} {
		if i, _ := slices.BinarySearch(list, below); i < len(list) && strings.HasPrefix(list[i], below) {
			return true
		}
	}
	return false
}

// IsSubmodule reports whether path is tracked as a submodule.
func (ix *Index) IsSubmodule(path string) bool {
	if ix == nil {
		return false
	}
	_, ok := slices.BinarySearch(ix.submodules, path)
	return ok
}
