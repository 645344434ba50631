//! The JSON form of figures.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeMap,
};

use super::{
    histogram::LatencyHistogram,
    outcome::{Outcome, OutcomeCounts},
    series::{TimeSeries, TimeSlot},
};

impl Serialize for OutcomeCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Outcome::ALL.len()))?;
        for outcome in Outcome::ALL {
            map.serialize_entry(outcome.key(), &self.of(outcome))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for OutcomeCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = OutcomeCounts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("counts by outcome")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OutcomeCounts, A::Error> {
                let mut counts = OutcomeCounts::default();
                while let Some((key, times)) = map.next_entry::<String, u64>()? {
                    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.key() == key);
                    let outcome =
                        outcome.ok_or_else(|| A::Error::custom(format!("unknown outcome `{key}`")))?;
                    counts.set(outcome, times);
                }
                Ok(counts)
            }
        }
        deserializer.deserialize_map(Read)
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode())
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::decode(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A slot in JSON. `classes` maps latency classes to counts.
#[derive(Serialize, Deserialize)]
struct StoredSlot {
    due: u64,
    // Earlier reports have neither arrivals nor users by second.
    #[serde(default)]
    arrivals: u64,
    #[serde(default)]
    user_ms: u64,
    counts: OutcomeCounts,
    classes: BTreeMap<u16, u32>,
}

#[derive(Serialize, Deserialize)]
struct StoredSeries {
    seconds: u32,
    slots: Vec<StoredSlot>,
}

impl Serialize for TimeSeries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let slots = self.slots.iter().map(|slot| StoredSlot {
            due: slot.due,
            arrivals: slot.arrivals,
            user_ms: slot.user_ms,
            counts: slot.counts,
            classes: slot.classes.iter().copied().collect(),
        });
        StoredSeries { seconds: self.seconds, slots: slots.collect() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TimeSeries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = StoredSeries::deserialize(deserializer)?;
        if !stored.seconds.is_power_of_two() {
            return Err(D::Error::custom("the length of a slot is not a power of two"));
        }
        let slots = stored.slots.into_iter().map(|slot| TimeSlot {
            due: slot.due,
            arrivals: slot.arrivals,
            user_ms: slot.user_ms,
            counts: slot.counts,
            classes: slot.classes.into_iter().collect(),
        });
        Ok(Self { seconds: stored.seconds, slots: slots.collect() })
    }
}
