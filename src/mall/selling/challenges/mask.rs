//! Coverage of pixels by ink, from 0 to 1.

/// A rectangle of coverages. Nothing is covered outside.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Mask {
    width: u32,
    height: u32,
    covered: Vec<f32>,
}

impl Mask {
    /// Creates a mask without ink.
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self { width, height, covered: vec![0.0; width as usize * height as usize] }
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    pub(super) fn height(&self) -> u32 {
        self.height
    }

    fn place(&self, x: u32, y: u32) -> Option<usize> {
        (x < self.width && y < self.height).then(|| y as usize * self.width as usize + x as usize)
    }

    /// Returns the coverage of a pixel.
    pub(super) fn at(&self, x: u32, y: u32) -> f32 {
        self.place(x, y).map_or(0.0, |place| self.covered[place])
    }

    /// Adds ink to a pixel. Ink over ink covers no more than the stronger of both.
    pub(super) fn add(&mut self, x: u32, y: u32, coverage: f32) {
        if let Some(place) = self.place(x, y) {
            self.covered[place] = self.covered[place].max(coverage.clamp(0.0, 1.0));
        }
    }

    /// Removes ink from a pixel: what is left is at most `1 - coverage`.
    pub(super) fn remove(&mut self, x: u32, y: u32, coverage: f32) {
        if let Some(place) = self.place(x, y) {
            self.covered[place] = self.covered[place].min(1.0 - coverage.clamp(0.0, 1.0));
        }
    }

    /// Returns the coverage at a point between pixels, from the four around it.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "points are checked to be inside"
    )]
    pub(super) fn between(&self, x: f32, y: f32) -> f32 {
        if !(x >= 0.0 && y >= 0.0 && x < self.width as f32 && y < self.height as f32) {
            return 0.0;
        }
        let (left, top) = (x.floor(), y.floor());
        let (right_share, bottom_share) = (x - left, y - top);
        let (left, top) = (left as u32, top as u32);
        let upper = self.at(left, top) * (1.0 - right_share) + self.at(left + 1, top) * right_share;
        let lower = self.at(left, top + 1) * (1.0 - right_share) + self.at(left + 1, top + 1) * right_share;
        upper * (1.0 - bottom_share) + lower * bottom_share
    }

    /// Returns the sum of all coverages.
    #[cfg(test)]
    pub(super) fn ink(&self) -> f32 {
        self.covered.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_is_added_removed_and_read_between_pixels() {
        let mut mask = Mask::new(2, 2);
        mask.add(0, 0, 2.0);
        mask.add(1, 1, 0.5);
        mask.add(1, 1, 0.25);
        mask.add(2, 0, 1.0);
        assert_eq!((mask.at(0, 0), mask.at(1, 1), mask.at(2, 0), mask.ink()), (1.0, 0.5, 0.0, 1.5));
        assert_eq!((mask.between(0.5, 0.0), mask.between(0.5, 0.5)), (0.5, 0.375));
        for (x, y) in [(-0.1, 0.0), (0.0, 2.0), (f32::NAN, 0.0)] {
            assert_eq!(mask.between(x, y), 0.0, "{x} {y}");
        }
        mask.remove(0, 0, 0.75);
        assert_eq!(mask.at(0, 0), 0.25);
    }
}
