"""Prints "ready", then the number of Imu messages received so far and the last time stamp [s], ten times a second.

Arguments: domain, topic in DDS. Types are declared by hand, and samples decoded by Cyclone DDS itself.
"""

import sys
import time
from dataclasses import dataclass

import cyclonedds.idl.annotations as annotate
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, int32, uint32
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclass
@annotate.final
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
@annotate.final
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclass
@annotate.final
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
@annotate.final
class Vector(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
@annotate.final
class Imu(IdlStruct, typename="sensor_msgs::msg::dds_::Imu_"):
    header: Header
    orientation: Quaternion
    orientation_covariance: array[float64, 9]
    angular_velocity: Vector
    angular_velocity_covariance: array[float64, 9]
    linear_acceleration: Vector
    linear_acceleration_covariance: array[float64, 9]


domain, name = int(sys.argv[1]), sys.argv[2]
loopback = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    "<Peers><Peer address='127.0.0.1'/></Peers></Discovery></Domain></CycloneDDS>"
)
configured = Domain(domain, loopback)
participant = DomainParticipant(domain)
quality = Qos(
    Policy.Reliability.Reliable(duration(seconds=1)),
    Policy.History.KeepLast(100),
    Policy.DataRepresentation(use_cdrv0_representation=True),
)
reader = DataReader(participant, Topic(participant, name, Imu), qos=quality)
print("ready", flush=True)
count = 0
while True:
    for sample in reader.take(N=100):
        if not isinstance(sample, Imu):
            continue
        assert sample.header.frame_id == "imu"
        assert abs(sample.linear_acceleration.z - 9.80665) < 1e-6
        count += 1
    print(count, flush=True)
    time.sleep(0.1)
