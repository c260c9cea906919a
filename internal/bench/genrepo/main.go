// Command genrepo writes the synthetic Flux repository of package bench:
//
//	go run ./internal/bench/genrepo -out DIR -units 300 -objects 20 -environments 2
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/tidegate/tidegate/internal/bench"
)

func main() {
	out := flag.String("out", "", "the directory to make; it must hold nothing yet")
	o := bench.Options{}
	flag.IntVar(&o.Units, "units", 300, "Flux Kustomizations in each environment")
	flag.IntVar(&o.ObjectsPerUnit, "objects", 20, "objects that each of them renders")
	flag.IntVar(&o.Environments, "environments", 2, "environments")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := bench.Write(*out, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d environments of %d objects in %s\n", o.Environments, o.ObjectsPerEnvironment(), *out)
}
