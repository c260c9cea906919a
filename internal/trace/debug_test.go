package trace

import (
	"fmt"
	"os"
)

func init() {
	if os.Getenv("TRDEBUG") != "" {
		debug = func(o *Object, b *branch) {
			p, ok := o.build.place(b.at, o.unit)
			fmt.Println(o.ref, b.path(), "mark", b.at, "kept", o.kept(), "place", ok, "blind", o.build.blind)
			if ok {
				fmt.Println("   text", *p.text, "node", p.node.Value, p.src.paths[p.node], "leads", o.leads(b, p))
			}
		}
	}
}
