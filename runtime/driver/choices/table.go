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

// Algorithm is an algorithm of the library as the library stores it, cublasLtMatmulAlgo_t, followed by a byte that is 1
// where a separate kernel applies scales.
type Algorithm [65]byte

// Table has the algorithms of a machine by product. Its methods may be called from any goroutine.
type Table struct {
	machine Machine
	folder  string // empty where there is no file
	mu      sync.Mutex
	read    bool // the file has been read
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

// Of is the process's table of a machine, with its file in a folder that Folder has returned; an empty folder means a
// table without a file.
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

// New is a new table, separate from the process's tables, which has read nothing yet.
func New(m Machine, folder string) *Table {
	return &Table{machine: m, folder: folder, known: map[driver.MatmulDesc]Algorithm{}}
}

// Find returns the algorithm of a product, if this process has kept one or the file has one. It reads the file once.
func (t *Table) Find(d driver.MatmulDesc) (Algorithm, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.read && t.folder != "" {
		t.merge()
	}
	a, ok := t.known[d]
	return a, ok
}

// Keep remembers the algorithm a of a product, which replaces the refused algorithm, and writes the file. It keeps the
// algorithms that other processes have written meanwhile. If another rank has kept an algorithm of this product
// meanwhile, Keep returns that algorithm, so that all ranks round alike; else it returns a. The process remembers the
// algorithm also if the error says that the file could not be written.
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

// merge adds the file's algorithms that the process lacks. It ignores a broken file and a file of another machine: the
// next Keep replaces it.
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
