//! Reads a file as Perfetto does, for tests: with all strings in their places, and whole times.

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;

use flate2::read::ZlibDecoder;
use prost::Message as _;

use super::message::{self, Data, EventType, Interned, InternedData, Trace, TracePacket, TrackDescriptor, Value};

pub enum Packet {
    Track(TrackDescriptor),
    Event(Event),
}

#[derive(Debug)]
pub struct Event {
    pub time: u64,
    pub track: u64,
    pub r#type: EventType,
    pub name: String,
    pub annotations: BTreeMap<String, String>,
    pub flows: Vec<u64>,
    pub counter: i64,
}

/// The time and the strings that later packets refer to.
#[derive(Default)]
struct State {
    time: u64,
    names: HashMap<u64, String>,
    annotation_names: HashMap<u64, String>,
    annotation_values: HashMap<u64, String>,
}

/// Returns the packets of a file. Panics if a packet refers to a string that no earlier one has.
pub fn read(file: &[u8]) -> Vec<Packet> {
    let mut state = State::default();
    let groups = Trace::decode(file).unwrap().packet.into_iter();
    let packets = groups.flat_map(|group| match group.data {
        Some(Data::CompressedPackets(compressed)) => {
            let mut packets = Vec::new();
            ZlibDecoder::new(&*compressed).read_to_end(&mut packets).unwrap();
            Trace::decode(&*packets).unwrap().packet
        }
        other => panic!("{other:?}"),
    });
    packets.filter_map(|packet| state.take(packet)).collect()
}

impl State {
    fn take(&mut self, packet: TracePacket) -> Option<Packet> {
        assert_eq!(packet.trusted_packet_sequence_id, Some(1));
        if let Some(data) = packet.interned_data {
            self.learn(data);
        }
        match packet.data? {
            Data::ClockSnapshot(snapshot) => {
                assert_eq!(packet.sequence_flags, Some(message::STATE_CLEARED));
                let time = packet.timestamp.unwrap();
                assert!(snapshot.clocks.iter().all(|clock| clock.timestamp == Some(time)) && time >= self.time);
                *self = State { time, ..State::default() };
                None
            }
            Data::TrackDescriptor(track) => Some(Packet::Track(track)),
            Data::TrackEvent(event) => {
                assert_eq!(packet.sequence_flags, Some(message::NEEDS_STATE));
                let time = match packet.timestamp_clock_id {
                    Some(_) => packet.timestamp.unwrap(),
                    None => {
                        self.time += packet.timestamp.unwrap();
                        self.time
                    }
                };
                let annotations = event.debug_annotations.iter().map(|annotation| {
                    let value = match annotation.value.as_ref().unwrap() {
                        Value::String(text) => text.clone(),
                        Value::StringIid(number) => self.annotation_values[number].clone(),
                        Value::Int(number) => number.to_string(),
                        Value::Uint(number) => number.to_string(),
                    };
                    (self.annotation_names[&annotation.name_iid.unwrap()].clone(), value)
                });
                Some(Packet::Event(Event {
                    time,
                    track: event.track_uuid.unwrap(),
                    r#type: event.r#type(),
                    name: event.name_iid.map(|number| self.names[&number].clone()).unwrap_or_default(),
                    annotations: annotations.collect(),
                    counter: event.counter_value(),
                    flows: event.flow_ids,
                }))
            }
            Data::CompressedPackets(_) => panic!("groups do not nest"),
        }
    }

    fn learn(&mut self, data: InternedData) {
        let tables = [
            (&mut self.names, data.event_names),
            (&mut self.annotation_names, data.debug_annotation_names),
            (&mut self.annotation_values, data.debug_annotation_string_values),
        ];
        for (table, new) in tables {
            for Interned { iid, text } in new {
                assert!(table.insert(iid.unwrap(), text.unwrap()).is_none());
            }
        }
    }
}
