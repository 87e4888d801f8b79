package emit

import (
	"path"

	"ovgen/templates"
)

// emitHeaders adds package device: the device code that all packages share.
func emitHeaders(files map[string][]byte) error {
	f := newFile(headersName, runFrom)
	f.PackageComment(comment(wrap("Package " + headersName + " holds the headers that the kernels of all packages " +
		"include, and the one that makes them compile for the host. It has no code.")))
	headers, err := templates.Headers()
	if err != nil {
		return err
	}
	for name, text := range headers {
		files[path.Join(headersName, name)] = text
	}
	return add(f, path.Join(headersName, "doc.go"), files)
}
