package driver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Code is the device code of a generated package.
type Code struct {
	Name string // the generated package
	// Source is the Digest of the package's .cu and of the headers that it includes, from which the PTX must have been
	// compiled; empty for code that was not generated, whose source is not checked.
	Source  string
	PTX     []byte // after its head; it need not be null-terminated
	Kernels []Kernel
}

// ErrNoPTX says that a package was generated without NVRTC and runs only in the simulator.
var ErrNoPTX = errors.New("it was generated without NVRTC and holds no device code for GPUs (generate it again where " +
	"NVRTC is present: ovgen help gen)")

// StaleError says that a package's PTX was not compiled from the package's source.
type StaleError struct {
	Name string // of the package
	Text string // the difference
}

// Error states the difference and the remedy.
func (e *StaleError) Error() string {
	return fmt.Sprintf("the PTX of %s %s (generate the package again: ovgen gen)", e.Name, e.Text)
}

// Check compares the PTX with its own head and the package's source. An error is ErrNoPTX or a *StaleError.
func (c *Code) Check() error {
	if c.Source == "" && len(c.PTX) > 0 {
		return nil
	}
	h := ReadHead(c.PTX)
	switch {
	case len(h.Body) == 0:
		return ErrNoPTX
	case h.Source != c.Source:
		return &StaleError{Name: c.Name, Text: "was compiled from another .cu"}
	case h.PTX != Digest(h.Body):
		return &StaleError{Name: c.Name, Text: "was changed after it was compiled"}
	}
	return nil
}

// Lines in the head of a PTX file: the hash of its source, and the hash of its text.
const (
	SourceLine = "// source sha256 "
	PTXLine    = "// PTX    sha256 "
)

// Head is the head of a generated PTX file: the comments in its first lines.
type Head struct {
	Source string // Digest of the .cu and of the headers that it includes
	PTX    string // Digest of the body
	Body   []byte // the text after the head's first empty comment; empty if there is none
}

// ReadHead parses a PTX file. Missing parts are empty.
func ReadHead(file []byte) (h Head) {
	for {
		line, rest, ok := bytes.Cut(file, []byte("\n"))
		if !ok || !bytes.HasPrefix(line, []byte("//")) {
			return h
		}
		if text, ok := bytes.CutPrefix(line, []byte(SourceLine)); ok {
			h.Source = string(text)
		}
		if text, ok := bytes.CutPrefix(line, []byte(PTXLine)); ok {
			h.PTX = string(text)
		}
		if file = rest; string(line) == "//" {
			h.Body = rest
			return h
		}
	}
}

// Digest is the SHA-256 of texts one after the other, in hexadecimal.
func Digest(texts ...[]byte) string {
	sum := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(sum, "%d\n", len(t))
		sum.Write(t)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
