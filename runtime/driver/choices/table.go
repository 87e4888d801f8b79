package choices

import (
	"maps"
	"sync"

	"ovgen/runtime/driver"
)

// Machine is the device and libraries on which an algorithm was measured.
type Machine struct {
	Device  string `json:"device"`  // "NVIDIA H200"
	Driver  int    `json:"driver"`  // 12040 for 12.4
	Library int    `json:"library"` // of cuBLASLt: 120402 for 12.4.2
}

// Algorithm is one of the library's, as it stores it, cublasLtMatmulAlgo_t, and behind it 1 where scales are applied by
// a kernel of their own.
type Algorithm [65]byte

// Table has the algorithms of a machine by product. Its methods may be called from any goroutine.
type Table struct {
	machine Machine
	folder  string // empty where there is no file
	mu      sync.Mutex
	read    bool // the file has been
	known   map[driver.MatmulDesc]Algorithm
}

// tables of this process.
var tables struct {
	sync.Mutex
	of map[place]*Table
}

type place struct {
	machine Machine
	folder  string
}

// Of is the process's table of a machine with its file in a folder, as Folder names it; an empty folder
// is a table without a file.
func Of(m Machine, folder string) *Table {
	tables.Lock()
	defer tables.Unlock()
	at := place{m, folder}
	t := tables.of[at]
	if t == nil {
		t = New(m, folder)
		if tables.of == nil {
			tables.of = map[place]*Table{}
		}
		tables.of[at] = t
	}
	return t
}

// New is a table of its own, which has read nothing yet.
func New(m Machine, folder string) *Table {
	return &Table{machine: m, folder: folder, known: map[driver.MatmulDesc]Algorithm{}}
}

// Find returns the algorithm of a product, if one was kept by this process or is in the file. The file is read once.
func (t *Table) Find(d driver.MatmulDesc) (Algorithm, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.read && t.folder != "" {
		t.merge()
	}
	a, ok := t.known[d]
	return a, ok
}

// Keep remembers the algorithm of a product, which replaces one that was refused, and writes the file, with the
// algorithms that other processes have written since. Where another rank has kept one meanwhile it returns that, so
// that all ranks round alike; else a. The process remembers also where the error says that the file could not be
// written.
func (t *Table) Keep(d driver.MatmulDesc, a, refused Algorithm) (Algorithm, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.folder != "" {
		t.merge()
	}
	if have, known := t.known[d]; known && have != refused {
		return have, nil
	}
	t.known[d] = a
	if t.folder == "" {
		return a, nil
	}
	return a, t.write()
}

// merge adds the file's algorithms that the process lacks. A broken file, or another
// machine's, counts as absent: the next Keep replaces it.
func (t *Table) merge() {
	t.read = true
	there, err := read(t.path(), t.machine)
	if err != nil {
		return
	}
	mine := t.known
	t.known = there
	maps.Copy(t.known, mine)
}
