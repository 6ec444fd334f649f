"""A node of zenoh-ros2-sdk: subscribes, commands a car, and pauses the run by a service.

Argument: port. Prints "ready" when it has subscribed, and at the end what it received, as JSON. Message definitions are
those of the package rosbags, since the SDK would fetch them from the network.
"""

import json
import sys
import time

import zenoh_ros2_sdk.session as sdk_session
from rosbags.typesys import Stores, get_typestore
from zenoh_ros2_sdk import ROS2Publisher, ROS2ServiceClient, ROS2Subscriber
from zenoh_ros2_sdk.qos import QosDurability, QosProfile

store = get_typestore(Stores.ROS2_JAZZY)
sdk_session.get_typestore = lambda *_: get_typestore(Stores.ROS2_JAZZY)
at = {"router_ip": "127.0.0.1", "router_port": int(sys.argv[1])}
received = {}


def described(kind: str) -> dict[str, str]:
    text = store.generate_msgdef(kind, ros_version=2)[0].split("=" * 80)[0]
    return {"msg_type": kind, "msg_definition": text, "type_hash": store.hash_rihs01(kind), **at}


def subscribe(topic: str, kind: str, qos: QosProfile | None = None) -> ROS2Subscriber:
    received[topic] = []
    return ROS2Subscriber(topic=topic, callback=received[topic].append, qos=qos, **described(kind))


latched = QosProfile(durability=QosDurability.TRANSIENT_LOCAL)
subscribers = [
    subscribe("/imu/data_raw", "sensor_msgs/msg/Imu"),
    subscribe("/flat/scan", "sensor_msgs/msg/LaserScan"),
    subscribe("/flat/points", "sensor_msgs/msg/PointCloud2"),
    subscribe("/ray/range", "sensor_msgs/msg/Range"),
    subscribe("/clock", "rosgraph_msgs/msg/Clock"),
    subscribe("/tf", "tf2_msgs/msg/TFMessage"),
    subscribe("/tf_static", "tf2_msgs/msg/TFMessage", latched),
]
publisher = ROS2Publisher(topic="/cmd_vel", **described("geometry_msgs/msg/Twist"))
client = ROS2ServiceClient(
    "/sensorium/pause",
    "std_srvs/srv/Trigger",
    request_definition="# nothing",
    response_definition="bool success\nstring message",
    timeout=10.0,
    **at,
)
print("ready", flush=True)
time.sleep(1.0)
Vector = store.types["geometry_msgs/msg/Vector3"]
publisher.publish(linear=Vector(2.0, 0.0, 0.0), angular=Vector(0.0, 0.0, 0.0))
time.sleep(1.5)
reply = client.call()
time.sleep(0.5)
clock_at = len(received["/clock"])
time.sleep(0.5)
scan, cloud = received["/flat/scan"][-1], received["/flat/points"][-1]
told = {
    "counts": {topic: len(messages) for topic, messages in received.items()},
    "acceleration": received["/imu/data_raw"][0].linear_acceleration.z,
    "rays": [len(scan.ranges), scan.header.frame_id, float(scan.ranges.min())],
    "points": [cloud.width, [field.name for field in cloud.fields]],
    "range": received["/ray/range"][0].range,
    "mounts": [one.child_frame_id for one in received["/tf_static"][-1].transforms],
    "x": received["/tf"][-1].transforms[0].transform.translation.x,
    "reply": [reply.success, reply.message],
    "while_paused": len(received["/clock"]) - clock_at,
}
print(json.dumps(told), flush=True)
for each in (*subscribers, publisher, client):
    each.close()
sdk_session.ZenohSession.get_instance().session.close()
