// Package emit turns host programs into Go packages: Go by jennifer, device code by
// the templates of ovgen/templates, PTX by NVRTC. It returns a map from file name to
// bytes, the same bytes for the same programs wherever it runs, and writes nothing.
package emit
