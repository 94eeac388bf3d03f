"""nodes.py COUNT GPUS: a Ray cluster of so many nodes, all on this machine, until its standard input ends.

Prints the cluster's address once all have joined. The nodes have GPUs in name only.
"""

import sys

from ray.cluster_utils import Cluster

count, gpus = map(int, sys.argv[1:])
node = {"num_cpus": 4, "num_gpus": gpus, "object_store_memory": 100_000_000}
cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
for _ in range(count - 1):
    cluster.add_node(**node)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
