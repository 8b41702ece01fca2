//! Images at positions between their pixels.

use super::conv::ConvElement;
use super::number::Number;

/// The pixels along one axis that a position is made of: at most four, with their weights and by how much those change
/// with the position.
#[derive(Debug, Clone, Copy, Default)]
pub struct Along {
    count: usize,
    at: [usize; 4],
    weight: [f64; 4],
    slope: [f64; 4],
}

impl Along {
    /// Adds a pixel.
    ///
    /// # Panics
    /// If there are four already.
    pub fn push(&mut self, at: usize, weight: f64, slope: f64) {
        let i = self.count;
        (self.at[i], self.weight[i], self.slope[i]) = (at, weight, slope);
        self.count += 1;
    }

    /// The two pixels next to a position of an axis of `size`, those outside left out.
    pub fn linear(position: f64, size: usize) -> Self {
        let (mut along, low) = (Self::default(), position.floor());
        let part = position - low;
        for (at, weight, slope) in [(low, 1.0 - part, -1.0), (low + 1.0, part, 1.0)] {
            if at >= 0.0 && at < size as f64 {
                along.push(at as usize, weight, slope);
            }
        }
        along
    }

    /// The same pixels for a position that changes by so much.
    pub fn scale_slopes(&mut self, factor: f64) {
        self.slope.iter_mut().for_each(|slope| *slope *= factor);
    }

    fn iter(&self) -> impl Iterator<Item = (usize, f64, f64)> {
        (0..self.count).map(|i| (self.at[i], self.weight[i], self.slope[i]))
    }
}

/// Some channels of an image `[height][width][channels]`.
#[derive(Debug, Clone, Copy)]
pub struct Lanes {
    /// Pixels of a row.
    pub width: usize,
    /// Channels of a pixel.
    pub channels: usize,
    /// The first that is meant, and how many are.
    pub first: usize,
    /// See above.
    pub count: usize,
}

impl Lanes {
    fn at(&self, y: usize, x: usize) -> std::ops::Range<usize> {
        let from = (y * self.width + x) * self.channels + self.first;
        from..from + self.count
    }
}

/// `out = scale · image` at a position.
///
/// # Panics
/// If a pixel is outside of the image.
pub fn sample<T: ConvElement>(
    lanes: Lanes,
    image: &[T],
    [y, x]: [&Along; 2],
    scale: f64,
    cast: impl Fn(f64) -> T,
    out: &mut [T],
) {
    out.fill(T::ZERO);
    for (at_y, weight_y, _) in y.iter() {
        for (at_x, weight_x, _) in x.iter() {
            let weight = cast(weight_y * weight_x * scale);
            let pixel = &image[lanes.at(at_y, at_x)];
            out.iter_mut().zip(pixel).for_each(|(out, &x)| *out = out.plus(x.times(weight)));
        }
    }
}

/// What [`sample`] gives back: the gradients of the position (y, x) and of the scale; that of the image is added to
/// `d_image`.
///
/// # Panics
/// As [`sample`].
pub fn sample_backward<T: ConvElement + Into<f64>>(
    lanes: Lanes,
    image: &[T],
    [y, x]: [&Along; 2],
    scale: f64,
    cast: impl Fn(f64) -> T,
    gradient: &[T],
    d_image: &mut [T],
) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (at_y, weight_y, slope_y) in y.iter() {
        for (at_x, weight_x, slope_x) in x.iter() {
            let weight = cast(weight_y * weight_x * scale);
            let range = lanes.at(at_y, at_x);
            let d_pixel = d_image[range.clone()].iter_mut();
            d_pixel.zip(gradient).for_each(|(d, &g)| *d = Number::plus(*d, g.times(weight)));
            let products = image[range].iter().zip(gradient).map(|(&x, &g)| x.into() * g.into());
            let dot: f64 = products.sum();
            sums[0] += slope_y * weight_x * scale * dot;
            sums[1] += weight_y * slope_x * scale * dot;
            sums[2] += weight_y * weight_x * dot;
        }
    }
    sums
}
