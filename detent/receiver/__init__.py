"""For those who receive webhooks: who sent it, whether it was here before, and whether somebody newer was.

    receiver = Receiver("whsec_…")                     # or several secrets, while one is rotated
    delivery = receiver.read(headers, body)            # raises Rejected: a status and a reason
    match store.begin(delivery.key, delivery.token):   # new, duplicate or stale
        …

`AsgiReceiver` and `WsgiReceiver` do all of it around an application. Nothing here needs the rest of Detent.

What the store keeps of a key is the newest token that began, and whether the work was done:

| arrives                       | answer                                                                  |
|-------------------------------|-------------------------------------------------------------------------|
| unknown key                   | new: do it                                                              |
| known, done                   | duplicate: say yes once more, do nothing                                |
| known, not done, newer token  | new: a retry, or a replay of what never succeeded here                  |
| known, not done, other token  | stale: somebody newer has begun, or this very attempt has               |

Two attempts may overlap: the first one's worker is thought dead, and the second begins while the first still runs. Pass
the token on to what you write to, and let it refuse smaller ones; that is what it is for.
"""

from detent.receiver.asgi import AsgiReceiver
from detent.receiver.delivery import Delivery, Receiver, Rejected
from detent.receiver.memory import MemoryStore
from detent.receiver.postgres import AsyncPostgresStore, PostgresStore
from detent.receiver.redis import RedisStore
from detent.receiver.store import Standing, Store
from detent.receiver.wsgi import WsgiReceiver

__all__ = [
    "AsgiReceiver",
    "AsyncPostgresStore",
    "Delivery",
    "MemoryStore",
    "PostgresStore",
    "Receiver",
    "RedisStore",
    "Rejected",
    "Standing",
    "Store",
    "WsgiReceiver",
]
