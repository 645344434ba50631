//! The JSON form of figures.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
};

use super::{
    histogram::LatencyHistogram,
    outcome::{Outcome, OutcomeCounts},
    series::{TimeSeries, TimeSlot},
};

impl Serialize for OutcomeCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Outcome::ALL.map(|outcome| (outcome.key(), self.of(outcome))))
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

/// The latency classes of a slot: an object that maps each class to its count.
pub(super) mod classes {
    use std::collections::BTreeMap;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(classes: &[(u16, u32)], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(classes.iter().copied())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(u16, u32)>, D::Error> {
        Ok(BTreeMap::deserialize(deserializer)?.into_iter().collect())
    }
}

impl<'de> Deserialize<'de> for TimeSeries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct StoredSeries {
            seconds: u32,
            slots: Vec<TimeSlot>,
        }
        let StoredSeries { seconds, slots } = StoredSeries::deserialize(deserializer)?;
        if !seconds.is_power_of_two() {
            return Err(D::Error::custom("the length of a slot is not a power of two"));
        }
        Ok(Self { seconds, slots })
    }
}
