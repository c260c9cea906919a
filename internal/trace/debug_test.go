package trace

import (
	"fmt"
	"os"
)

func init() {
	if os.Getenv("TRDEBUG") != "" {
		debug = func(o *Object, b *branch) {
			p, ok := o.build.place(b.at, o.unit)
			if o.named != nil { fmt.Println("   named", *o.named.text, o.named.name, o.named.base, o.tree.root.at) }
			fmt.Println(o.ref, b.path(), "mark", b.at, "kept", o.kept(), "place", ok, "blind", o.build.blind)
			if ok {
				fmt.Println("   text", *p.text, "node", p.node.Value, p.src.paths[p.node], "leads", o.leads(b, p))
			}
			if b.step == "namespace" {
				for _, k := range o.build.kusts {
					fmt.Println("    kust", k.file, k.k.Namespace, b.node.Value)
				}
			}
		}
	}
}
