//! Reads a table as Parquet, batch by batch, and only the columns in use.
//!
//! Any physical type that can hold a column's values is accepted: text as string or binary, numbers as
//! integers, floats or decimals, times also as timestamps and dates.
//!
//! # Promises
//! - A damaged file is an error: [`freshet_store::foreign_parquet`] opens it.

use std::fs::File;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, BinaryArray, BooleanArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, TimeUnit};
use freshet_store::foreign_parquet::table::{Batches, ForeignTable};
use freshet_theory::units::SECONDS_PER_DAY;

use super::columns::{Cell, Column, Fault, Layout, Row};
use crate::progress;

/// Rows decoded per batch.
const ROWS_PER_BATCH: usize = 16_384;

/// A Parquet file whose columns are known.
pub(super) struct ParquetTable {
    batches: Batches,
    /// Index of each column among those that are read.
    pub(super) layout: Layout,
    rows: u64,
}

/// Why a Parquet file cannot be read, and in which row if there is one.
#[derive(Debug)]
pub(super) struct ParquetFault {
    /// The row, counted from one.
    pub(super) row: Option<u64>,
    /// What is wrong.
    pub(super) message: String,
}

impl ParquetFault {
    fn of_file(message: &impl ToString) -> Self {
        Self { row: None, message: message.to_string() }
    }
}

impl ParquetTable {
    /// Reads the names of the columns.
    pub(super) fn open(file: File) -> Result<Self, ParquetFault> {
        let table = ForeignTable::open(file).map_err(|error| ParquetFault::of_file(&error))?;
        let names = table.schema().fields().iter().map(|field| field.name().as_str());
        let mut layout = Layout::recognise(names).map_err(|error| ParquetFault::of_file(&error))?;
        let rows = table.rows();
        let places: Vec<usize> = layout.places.iter().map(|(place, _)| *place).collect();
        let batches = table.batches(places, ROWS_PER_BATCH).map_err(|error| ParquetFault::of_file(&error))?;
        // The columns that are read keep their order; the indices now count only these.
        for (index, (place, _)) in layout.places.iter_mut().enumerate() {
            *place = index;
        }
        Ok(Self { batches, layout, rows })
    }

    /// Passes every row and its number, counted from one, to `take`.
    pub(super) fn for_each(
        self,
        doing: &str,
        take: &mut dyn FnMut(&Row<'_>, u64) -> Result<(), Fault>,
    ) -> Result<(), ParquetFault> {
        let progress = progress::steps(doing, self.rows);
        let mut number = 0;
        for batch in self.batches {
            let batch =
                batch.map_err(|error| ParquetFault { row: Some(number + 1), message: error.to_string() })?;
            let columns = values_of(&batch, &self.layout)?;
            for index in 0..batch.num_rows() {
                number += 1;
                let mut row = Row::default();
                for (column, values) in &columns {
                    row.set(*column, values.cell(index));
                }
                take(&row, number)
                    .map_err(|fault| ParquetFault { row: Some(number), message: fault.to_string() })?;
            }
            progress.set_position(number);
        }
        progress.finish_and_clear();
        Ok(())
    }
}

/// The values of one column of a batch.
enum Values<'a> {
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
    Flags(&'a BooleanArray),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    UInt8(&'a PrimitiveArray<UInt8Type>),
    UInt16(&'a PrimitiveArray<UInt16Type>),
    UInt32(&'a PrimitiveArray<UInt32Type>),
    UInt64(&'a PrimitiveArray<UInt64Type>),
    Float32(&'a PrimitiveArray<Float32Type>),
    Float64(&'a PrimitiveArray<Float64Type>),
    Decimal(&'a PrimitiveArray<Decimal128Type>, i8),
    Dates(&'a PrimitiveArray<Date32Type>),
    Seconds(&'a PrimitiveArray<TimestampSecondType>),
    Millis(&'a PrimitiveArray<TimestampMillisecondType>),
    Micros(&'a PrimitiveArray<TimestampMicrosecondType>),
    Nanos(&'a PrimitiveArray<TimestampNanosecondType>),
}

fn values_of<'a>(batch: &'a RecordBatch, layout: &Layout) -> Result<Vec<(Column, Values<'a>)>, ParquetFault> {
    let values = |(place, column): &(usize, Column)| {
        let array = batch.column(*place).as_ref();
        let values = Values::of(array).ok_or_else(|| {
            let message = format!(
                "column {} has the type {}, which cannot be read; write it as text, a number or a timestamp",
                column.name(),
                array.data_type()
            );
            ParquetFault::of_file(&message)
        })?;
        Ok((*column, values))
    };
    layout.places.iter().map(values).collect()
}

impl<'a> Values<'a> {
    fn of(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => Self::Text(array.as_string()),
            DataType::Binary => Self::Bytes(array.as_binary()),
            DataType::Boolean => Self::Flags(array.as_boolean()),
            DataType::Int8 => Self::Int8(array.as_primitive()),
            DataType::Int16 => Self::Int16(array.as_primitive()),
            DataType::Int32 => Self::Int32(array.as_primitive()),
            DataType::Int64 => Self::Int64(array.as_primitive()),
            DataType::UInt8 => Self::UInt8(array.as_primitive()),
            DataType::UInt16 => Self::UInt16(array.as_primitive()),
            DataType::UInt32 => Self::UInt32(array.as_primitive()),
            DataType::UInt64 => Self::UInt64(array.as_primitive()),
            DataType::Float32 => Self::Float32(array.as_primitive()),
            DataType::Float64 => Self::Float64(array.as_primitive()),
            DataType::Decimal128(_, scale) => Self::Decimal(array.as_primitive(), *scale),
            DataType::Date32 => Self::Dates(array.as_primitive()),
            DataType::Timestamp(TimeUnit::Second, _) => Self::Seconds(array.as_primitive()),
            DataType::Timestamp(TimeUnit::Millisecond, _) => Self::Millis(array.as_primitive()),
            DataType::Timestamp(TimeUnit::Microsecond, _) => Self::Micros(array.as_primitive()),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => Self::Nanos(array.as_primitive()),
            _ => return None,
        })
    }

    fn cell(&self, index: usize) -> Cell<'a> {
        match self {
            Self::Text(array) if array.is_valid(index) => Cell::Text(array.value(index).as_bytes()),
            Self::Bytes(array) if array.is_valid(index) => Cell::Text(array.value(index)),
            Self::Flags(array) if array.is_valid(index) => Cell::Flag(array.value(index)),
            Self::Text(_) | Self::Bytes(_) | Self::Flags(_) => Cell::Empty,
            Self::Int8(array) => cell(array, index, |value| Cell::Number(f64::from(value))),
            Self::Int16(array) => cell(array, index, |value| Cell::Number(f64::from(value))),
            Self::Int32(array) => cell(array, index, |value| Cell::Number(f64::from(value))),
            Self::Int64(array) => cell(array, index, |value| Cell::Number(value as f64)),
            Self::UInt8(array) => cell(array, index, |value| Cell::Number(f64::from(value))),
            Self::UInt16(array) => cell(array, index, |value| Cell::Number(f64::from(value))),
            Self::UInt32(array) => cell(array, index, |value| Cell::Number(f64::from(value))),
            Self::UInt64(array) => cell(array, index, |value| Cell::Number(value as f64)),
            Self::Float32(array) => cell(array, index, |value| Cell::Number(f64::from(value))),
            Self::Float64(array) => cell(array, index, Cell::Number),
            Self::Decimal(array, scale) => {
                cell(array, index, |value| Cell::Number(value as f64 / 10_f64.powi(i32::from(*scale))))
            }
            Self::Dates(array) => cell(array, index, |days| Cell::Seconds(f64::from(days) * SECONDS_PER_DAY)),
            Self::Seconds(array) => cell(array, index, |time| Cell::Seconds(time as f64)),
            Self::Millis(array) => cell(array, index, |time| Cell::Seconds(time as f64 / 1e3)),
            Self::Micros(array) => cell(array, index, |time| Cell::Seconds(time as f64 / 1e6)),
            Self::Nanos(array) => cell(array, index, |time| Cell::Seconds(time as f64 / 1e9)),
        }
    }
}

fn cell<'a, T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    index: usize,
    read: impl Fn(T::Native) -> Cell<'a>,
) -> Cell<'a> {
    if array.is_valid(index) { read(array.value(index)) } else { Cell::Empty }
}
