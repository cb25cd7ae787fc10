//! Tests of what all plants promise.

use proptest::prelude::*;

use super::*;

fn all() -> Vec<Box<dyn Plant>> {
    PLANT_NAMES.iter().map(|name| by_name(name).expect("it is a known name")).collect()
}

#[test]
fn every_name_has_a_plant_and_no_other() {
    assert_eq!(all().len(), PLANT_NAMES.len());
    assert!(by_name("servo").is_none());
}

#[test]
fn the_connections_are_in_order() {
    for plant in all() {
        let Connections { actuators, sensors } = plant.connections();
        for signals in [actuators, sensors] {
            assert!(signals.len() <= PLANT_SIGNALS_MAX);
            for (index, signal) in signals.iter().enumerate() {
                let same = signals.iter().filter(|other| other.name == signal.name);
                assert_eq!(same.count(), 1, "{}", signal.name);
                assert!(signal.minimum < signal.maximum, "{}", signal.name);
                assert!((signal.minimum..=signal.maximum).contains(&signal.rest));
                assert!(signal.per_count > 0.0, "{}", signal.name);
                let found = plant.connections();
                let places = [found.actuator(signal.name), found.sensor(signal.name)];
                assert!(places.contains(&Some(index)));
            }
        }
    }
}

#[test]
fn the_same_calls_give_the_same_bits() {
    for name in PLANT_NAMES {
        let [mut once, mut twice] = [0; 2].map(|_| by_name(name).expect("it is a known name"));
        for at in 0..500u64 {
            let drive = [(at % 7) as f64 / 7.0, (at % 3) as f64, 1.0, 1.0, 1.0, 0.0];
            let (mut first, mut second) = ([0.0; PLANT_SIGNALS_MAX], [0.0; PLANT_SIGNALS_MAX]);
            once.advance(Nanos::from_millis(3 * at), &drive, &mut first);
            twice.advance(Nanos::from_millis(3 * at), &drive, &mut second);
            assert_eq!(first.map(f64::to_bits), second.map(f64::to_bits), "{name} at {at}");
        }
    }
}

/// Goal: only time counts, not how often it is looked at.
/// Method: two plants with one set of actuators, one called a hundred times as often.
#[test]
fn looking_more_often_changes_nothing() {
    for name in PLANT_NAMES {
        let [mut seldom, mut often] = [0; 2].map(|_| by_name(name).expect("it is a known name"));
        let drive = [0.6, 0.0];
        let (mut first, mut second) = ([0.0; PLANT_SIGNALS_MAX], [0.0; PLANT_SIGNALS_MAX]);
        for at in 0..=100u64 {
            seldom.advance(Nanos::from_millis(100 * at), &drive, &mut first);
        }
        for at in 0..=10_000u64 {
            often.advance(Nanos::from_millis(at), &drive, &mut second);
        }
        assert_eq!(first, second, "{name}");
    }
}

#[test]
fn an_actuator_acts_from_its_call_on() {
    let mut axis = ServoAxis::new();
    let mut sensors = [0.0; 2];
    axis.advance(Nanos::ZERO, &[0.0], &mut sensors);
    axis.advance(Nanos::from_millis(1), &[5.0], &mut sensors);
    assert_eq!(sensors, [0.0; 2], "the torque of this call acts later");
    axis.advance(Nanos::from_millis(2), &[5.0], &mut sensors);
    assert!(sensors[1] > 0.0);
}

#[test]
fn time_that_goes_back_moves_nothing() {
    let mut tank = Tank::new(Schedule::constant(0.5));
    let mut sensors = [0.0; 4];
    for at in 0..100 {
        tank.advance(Nanos::from_millis(100 * at), &[1.0], &mut sensors);
    }
    let before = sensors;
    tank.advance(Nanos::from_millis(5), &[1.0], &mut sensors);
    assert_eq!(sensors, before);
}

proptest! {
    /// Goal: whatever a device hands over, the sensors stay finite and inside their ranges.
    #[test]
    fn no_actuator_can_break_a_plant(
        calls in prop::collection::vec(
            (0u64..50_000_000, prop::collection::vec(any::<f64>(), 0..9)),
            1..60,
        ),
    ) {
        for mut plant in all() {
            let mut now = 0;
            let ranges = plant.connections().sensors;
            for (gap, actuators) in &calls {
                now += gap;
                let mut sensors = [0.0; PLANT_SIGNALS_MAX];
                plant.advance(Nanos::new(now), actuators, &mut sensors);
                for (signal, value) in ranges.iter().zip(sensors) {
                    prop_assert!(
                        (signal.minimum..=signal.maximum).contains(&value),
                        "{} is {value} {}", signal.name, signal.unit
                    );
                }
            }
        }
    }
}
