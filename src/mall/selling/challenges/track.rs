//! How a pointer moved: whether a hand moves like that.
//!
//! A sample is `[milliseconds since the press, pixels to the right, pixels down]`. The rules refuse what a
//! simple script sends: a jump, a constant speed, a curve without corrections. A script that adds noise, or
//! replays a recorded hand, passes.

/// Least number of samples.
const SAMPLES_MIN: usize = 8;
/// Shortest and longest duration, in milliseconds.
const DURATION_MS: std::ops::RangeInclusive<i32> = 250..=120_000;
/// Shortest duration without a movement up or down, in milliseconds: keys move the piece along a line.
const LEVEL_MS_MIN: i32 = 600;
/// Longest step between two samples, in pixels.
const STEP_MAX: i32 = 90;
/// Greatest distance of the last sample from the place of the piece, in pixels.
const END_MAX: i32 = 3;
/// Number of parts of equal time in which the speed is looked at.
const PARTS: usize = 16;
/// Least spread of the speed: its standard deviation divided by its mean.
const SPREAD_MIN: f64 = 0.15;
/// Least spread of the times between presses of a key.
const PRESSES_SPREAD_MIN: f64 = 0.05;
/// Least change of a part's distance that is more than rounding: pixels, and a share of the longest part.
const CHANGE_MIN: (f64, f64) = (2.0, 0.12);
/// Least number of turns between acceleration and deceleration. A curve drawn by a formula has one.
const TURNS_MIN: usize = 2;
/// A hand without a correction on the way holds still that long before it lets go, in milliseconds.
const STILL_MS_MIN: i32 = 60;

/// Returns whether a hand could have moved the piece from 0 to `left` like that.
pub(super) fn is_plausible(left: u32, track: &[[i32; 3]]) -> bool {
    let (Some(first), Some(last)) = (track.first(), track.last()) else { return false };
    let Ok(left) = i32::try_from(left) else { return false };
    let duration = last[0].saturating_sub(first[0]);
    let is_level = track.iter().all(|sample| sample[2] == first[2]);
    let steps = || track.windows(2).map(|pair| (pair[0], pair[1]));
    track.len() >= SAMPLES_MIN
        && first[0] >= 0
        && DURATION_MS.contains(&duration)
        && first[1].saturating_abs() <= STEP_MAX
        && last[1].saturating_sub(left).saturating_abs() <= END_MAX
        && steps()
            .all(|(from, to)| to[0] >= from[0] && to[1].saturating_sub(from[1]).saturating_abs() <= STEP_MAX)
        && if is_level { duration >= LEVEL_MS_MIN && is_pressed(track) } else { is_uneven(track) }
}

/// Returns the spread of the speed of a [plausible](is_plausible) track in thousandths: its standard
/// deviation divided by its mean. `None` for a track without samples or movement.
pub(super) fn speed_spread(track: &[[i32; 3]]) -> Option<u16> {
    let (first, last) = (track.first()?, track.last()?);
    let is_moved = last[0] > first[0] && last[1] > first[1];
    let thousandths = is_moved.then(|| spread(&parts(track)) * 1_000.0)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the clamp")]
    Some(thousandths.clamp(0.0, f64::from(u16::MAX - 1)) as u16)
}

/// Returns whether the times between samples vary as those between presses of a key do.
fn is_pressed(track: &[[i32; 3]]) -> bool {
    let times: Vec<f64> = track.windows(2).map(|pair| f64::from(pair[1][0] - pair[0][0])).collect();
    spread(&times) >= PRESSES_SPREAD_MIN
}

/// Returns the standard deviation divided by the mean; 0 without a positive mean.
fn spread(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
}

/// Returns whether the speed varies, and the movement is corrected on the way or ends at rest.
fn is_uneven(track: &[[i32; 3]]) -> bool {
    let parts = parts(track);
    let is_varied = spread(&parts) >= SPREAD_MIN;
    is_varied && (turns(&parts) >= TURNS_MIN || still_ms(track) >= STILL_MS_MIN)
}

/// Returns the distances moved in parts of equal time, in pixels.
fn parts(track: &[[i32; 3]]) -> [f64; PARTS] {
    let (first, last) = (track[0], track[track.len() - 1]);
    let duration = f64::from(last[0] - first[0]);
    let place = |number: usize| {
        let time = f64::from(first[0]) + duration * number as f64 / PARTS as f64;
        let after = track.iter().position(|sample| f64::from(sample[0]) >= time).unwrap_or(track.len() - 1);
        let (to, from) = (track[after], track[after.saturating_sub(1)]);
        let (length, past) = (f64::from(to[0] - from[0]), time - f64::from(from[0]));
        let share = if length > 0.0 { (past / length).clamp(0.0, 1.0) } else { 1.0 };
        f64::from(from[1]) + (f64::from(to[1]) - f64::from(from[1])) * share
    };
    std::array::from_fn(|number| place(number + 1) - place(number))
}

/// Counts the turns between acceleration and deceleration.
fn turns(parts: &[f64; PARTS]) -> usize {
    let longest = parts.iter().copied().fold(0.0, f64::max);
    let change_min = (CHANGE_MIN.1 * longest).max(CHANGE_MIN.0);
    let (mut turns, mut extreme, mut is_faster) = (0, parts[0], true);
    for part in &parts[1..] {
        let change = if is_faster { part - extreme } else { extreme - part };
        if change >= 0.0 {
            extreme = *part;
        } else if -change > change_min {
            turns += 1;
            (extreme, is_faster) = (*part, !is_faster);
        }
    }
    turns
}

/// Returns the time from the last movement to the last sample, in milliseconds.
fn still_ms(track: &[[i32; 3]]) -> i32 {
    let last = track[track.len() - 1];
    let moving = track.iter().rfind(|sample| sample[1] != last[1]);
    moving.map_or(0, |sample| last[0] - sample[0])
}

/// Returns a track as a hand makes it, for tests: slow at both ends, a little too far, and back.
pub(super) fn of_a_hand(left: u32) -> Vec<[i32; 3]> {
    const STEPS: i32 = 36;
    /// Tremor in pixels, taken in turns.
    const TREMOR: [i32; 7] = [0, 1, -1, 0, 2, -1, 0];
    let left = i32::try_from(left).unwrap_or(i32::MAX);
    let beyond = left.saturating_add(4);
    let moving = (0..=STEPS).zip(TREMOR.into_iter().cycle()).map(|(step, tremor)| {
        // Smooth between 0 and 1, in thousandths.
        let share = i64::from(step) * 1_000 / i64::from(STEPS);
        let smooth = share * share * (3_000 - 2 * share) / 1_000_000;
        let right = i32::try_from(smooth * i64::from(beyond) / 1_000).unwrap_or(i32::MAX);
        [step * 17 + tremor.abs(), (right + tremor).max(0), step / 9 + tremor]
    });
    let back = (1..=6).map(|step| [STEPS * 17 + 60 + step * 23, beyond - step.min(4), 4]);
    moving.chain(back).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: u32 = 150;

    /// A track of 40 samples, one each 16 ms, at places given for a share of the way from 0 to 1.
    fn track(right: impl Fn(f64) -> f64, down: impl Fn(i32) -> i32) -> Vec<[i32; 3]> {
        #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
        let pixel = |step: i32| (right(f64::from(step) / 39.0) * f64::from(LEFT)).round() as i32;
        (0..40).map(|step| [step * 16, pixel(step), down(step)]).collect()
    }

    #[test]
    fn a_hand_passes_at_each_distance() {
        for left in 60..280 {
            assert!(is_plausible(left, &of_a_hand(left)), "{left}");
        }
    }

    #[test]
    fn a_key_pressed_again_and_again_and_a_held_key_pass() {
        let pressed =
            [0, 210, 391, 560, 790, 930, 1_170, 1_330, 1_560, 1_701, 1_930, 2_088, 2_310, 2_496, 2_701];
        let pressed: Vec<_> = pressed.into_iter().zip(1..).map(|(ms, step)| [ms, step * 10, 0]).collect();
        assert!(is_plausible(LEFT, &pressed));
        // A held key repeats after half a second, each 30 to 34 ms, and is corrected by two presses.
        let mut held = vec![[0, 4, 0]];
        for step in 1..38 {
            held.push([
                500 + step * 32 + [0, 2, -1, 1][usize::try_from(step % 4).expect("small")],
                4 + step * 4,
                0,
            ]);
        }
        held.extend([[2_200, 148, 0], [2_500, 150, 0]]);
        assert!(is_plausible(LEFT, &held));
    }

    #[test]
    fn what_a_simple_script_sends_is_refused() {
        let wobble = |step: i32| step % 3;
        let straight = track(|share| share, wobble);
        let curve = track(|share| share * share * (3.0 - 2.0 * share), wobble);
        let of_a_hand = of_a_hand(LEFT);
        let with = |change: &dyn Fn(&mut Vec<[i32; 3]>)| {
            let mut changed = of_a_hand.clone();
            change(&mut changed);
            changed
        };
        let cases = [
            ("nothing", Vec::new()),
            ("a jump", vec![[0, 0, 0], [700, 150, 1]]),
            ("a constant speed", straight),
            ("a speed by a formula", curve),
            ("too fast", with(&|track| track.iter_mut().for_each(|sample| sample[0] /= 4))),
            ("too slow", with(&|track| track.iter_mut().for_each(|sample| sample[0] *= 200))),
            ("before the press", with(&|track| track.iter_mut().for_each(|sample| sample[0] -= 1))),
            ("back in time", with(&|track| track[9][0] = track[8][0] - 1)),
            ("a leap", with(&|track| track[20][1] += 95)),
            ("another end", with(&|track| *track = self::of_a_hand(LEFT + 4))),
            (
                "a fast line",
                with(&|track| {
                    track.iter_mut().for_each(|sample| *sample = [sample[0] * 2 / 3, sample[1], 0])
                }),
            ),
            (
                "a line in even steps",
                track(|share| share, |_| 0).iter().map(|[ms, right, _]| [ms * 2, *right, 0]).collect(),
            ),
            ("few samples", with(&|track| *track = track.iter().copied().step_by(9).collect())),
        ];
        for (name, track) in cases {
            assert!(!is_plausible(LEFT, &track), "{name}: {track:?}");
        }
    }

    #[test]
    fn no_number_breaks_the_arithmetic() {
        for number in [i32::MIN, -1, 0, 1, i32::MAX] {
            for other in [i32::MIN, 0, i32::MAX] {
                let track: Vec<_> =
                    (0..10).map(|step| if step % 2 == 0 { [number; 3] } else { [other; 3] }).collect();
                assert!(!is_plausible(LEFT, &track) && !is_plausible(u32::MAX, &track));
            }
        }
    }
}
