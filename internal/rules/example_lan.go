package rules

// lanExample is the smallest platform that does right what the rules about addresses on the LAN ask: a pool that is
// announced, a Gateway that pins nothing and gets the pool's first address, DNS that answers with it, and a Service
// that pins another.
const lanExample = `-- tidegate.yaml --
environments:
  home:
    path: clusters/home
    lan: 192.168.1.0/24
    controlPlaneVIP: 192.168.1.9
    nodes:
      - name: node-1
        address: 192.168.1.10
-- clusters/home/network.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: network
  namespace: flux-system
spec:
  interval: 10m
  path: ./network
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substituteFrom:
      - kind: ConfigMap
        name: vars
-- clusters/home/vars.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: vars
  namespace: flux-system
data:
  POOL_START: 192.168.1.50
  POOL_STOP: 192.168.1.59
  GATEWAY_VIP: 192.168.1.50
  GAME_VIP: 192.168.1.51
-- network/pool.yaml --
apiVersion: cilium.io/v2
kind: CiliumLoadBalancerIPPool
metadata:
  name: lan
spec:
  blocks:
    - start: ${POOL_START}
      stop: ${POOL_STOP}
-- network/announce.yaml --
apiVersion: cilium.io/v2alpha1
kind: CiliumL2AnnouncementPolicy
metadata:
  name: lan
spec:
  loadBalancerIPs: true
-- network/gateway.yaml --
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: shared
  namespace: gateway
spec:
  gatewayClassName: cilium
  listeners:
    - name: https
      protocol: HTTPS
      port: 443
-- network/dns.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns-custom
  namespace: kube-system
data:
  home.server: |
    home.example.net:53 {
        template IN A {
            answer "{{ .Name }} 60 IN A ${GATEWAY_VIP}"
        }
    }
-- network/game.yaml --
apiVersion: v1
kind: Service
metadata:
  name: game
  namespace: game
  annotations:
    lbipam.cilium.io/ips: ${GAME_VIP}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Cluster
  selector:
    app: game
  ports:
    - port: 25565
`

// lanVars is lanExample's values, with one of them changed.
const lanVars = `-- clusters/home/vars.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: vars
  namespace: flux-system
data:
`
