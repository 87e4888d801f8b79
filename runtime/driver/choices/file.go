package choices

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ovgen/runtime/driver"
)

// Variable names the folder of the files; the value Off means no file.
const (
	Variable = "OVGEN_CACHE"
	Off      = "off"
)

// Folder is the folder of the files: the named folder, else the variable's value, else ovgen in the user's cache
// folder. It is empty where the name or the variable is Off, and for a user without a cache folder.
func Folder(named string) string {
	switch named = cmp.Or(named, os.Getenv(Variable)); named {
	case "":
	case Off:
		return ""
	default:
		return named
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "ovgen")
}

// format is the version of the file and of the way of choosing algorithms.
const format = 3

// content is a file.
type content struct {
	Format int `json:"format"`
	Machine
	Sum      string          `json:"sum"` // SHA-256 of Products without white space
	Products json.RawMessage `json:"products"`
}

// product is an entry of the list of products.
type product struct {
	Product   driver.MatmulDesc `json:"product"`
	Algorithm []byte            `json:"algorithm"`
}

// path of the table's file: "products-nvidia-h200-12040-120402.json".
func (t *Table) path() string {
	device := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(t.machine.Device))
	return filepath.Join(t.folder, fmt.Sprintf("products-%s-%d-%d.json", device, t.machine.Driver, t.machine.Library))
}

// read returns the products of the file of a machine.
func read(path string, m Machine) (map[driver.MatmulDesc]Algorithm, error) {
	text, err := contents(path)
	if err != nil {
		return nil, err
	}
	known, err := decode(text, m)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return known, nil
}

// mostBytes bounds a file of products; tens of thousands of products take less.
const mostBytes = 16 << 20

// contents reads a regular file that is not too large. It waits for no writer of a pipe.
func contents(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostBytes {
		return nil, fmt.Errorf("read %s: %v, %d bytes: it is no regular file of at most %d bytes", path, info.Mode(),
			info.Size(), mostBytes)
	}
	return io.ReadAll(io.LimitReader(f, mostBytes))
}

func decode(text []byte, m Machine) (map[driver.MatmulDesc]Algorithm, error) {
	var c content
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	if c.Format != format || c.Machine != m {
		return nil, fmt.Errorf("it is of format %d and of %+v", c.Format, c.Machine)
	}
	if have, err := sum(c.Products); err != nil || have != c.Sum {
		return nil, errors.Join(errors.New("its sum is another"), err)
	}
	var list []product
	if err := json.Unmarshal(c.Products, &list); err != nil {
		return nil, err
	}
	known := map[driver.MatmulDesc]Algorithm{}
	for _, p := range list {
		if len(p.Algorithm) != len(Algorithm{}) {
			return nil, fmt.Errorf("an algorithm has %d bytes", len(p.Algorithm))
		}
		known[p.Product] = Algorithm(p.Algorithm)
	}
	return known, nil
}

func sum(products []byte) (string, error) {
	var bare bytes.Buffer
	if err := json.Compact(&bare, products); err != nil {
		return "", err
	}
	s := sha256.Sum256(bare.Bytes())
	return hex.EncodeToString(s[:]), nil
}

func (t *Table) encode() ([]byte, error) {
	var list []product
	for d, a := range t.known {
		list = append(list, product{d, a[:]})
	}
	slices.SortFunc(list, func(a, b product) int {
		x, y := a.Product, b.Product
		return cmp.Or(cmp.Compare(x.K, y.K), cmp.Compare(x.N, y.N), cmp.Compare(x.M, y.M),
			strings.Compare(fmt.Sprint(x), fmt.Sprint(y)))
	})
	products, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	c := content{Format: format, Machine: t.machine, Products: products}
	if c.Sum, err = sum(products); err != nil {
		return nil, err
	}
	return json.MarshalIndent(c, "", " ")
}

// write replaces the file by a rename, so that a reader finds either the old file or the new one.
func (t *Table) write() error {
	text, err := t.encode()
	if err == nil {
		err = os.MkdirAll(t.folder, 0o700)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", t.path(), err)
	}
	f, err := os.CreateTemp(t.folder, filepath.Base(t.path())+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", t.path(), err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), t.path())
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error to report is the earlier one
		return fmt.Errorf("write %s: %w", t.path(), err)
	}
	return nil
}
