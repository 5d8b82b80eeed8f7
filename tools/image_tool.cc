// Based on OpenCV. The schema kParameters lists the arguments of each operation.
#include "tools/image_tool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "core/json_parse.h"

namespace agon::tools {
namespace {

constexpr int kMostSide = 4096;                   // of a resized picture; twice that for a rotated one
constexpr std::int64_t kMostPixels = 25'000'000;  // of the input, unless the operation takes any size

constexpr const char* kParameters = R"json({
  "type": "object",
  "properties": {
    "operation": {"enum": ["crop", "rotate", "resize", "brighten", "contrast", "denoise", "sharpen", "draw"]},
    "picture": {"type": "integer", "minimum": 1, "description": "Number of the picture, from 1; the latest without it."},
    "box": {"type": "array", "minItems": 4, "maxItems": 4, "items": {"type": "number", "minimum": 0, "maximum": 1000},
      "description": "crop: [x1, y1, x2, y2], 0 to 1000 from the left and the top."},
    "degrees": {"type": "number", "minimum": -360, "maximum": 360, "description": "rotate: clockwise."},
    "width": {"type": "integer", "minimum": 1, "maximum": 4096, "description": "resize: pixels; in proportion without it."},
    "height": {"type": "integer", "minimum": 1, "maximum": 4096, "description": "resize: pixels; in proportion without it."},
    "amount": {"type": "number", "minimum": -100, "maximum": 100, "description":
      "brighten: -100 to 100 percent; contrast: a factor, 0 to 10; denoise and sharpen: strength, 0 to 10."},
    "shapes": {"type": "array", "minItems": 1, "maxItems": 32, "description": "draw: what, in this order.",
      "items": {
        "type": "object",
        "properties": {
          "kind": {"enum": ["box", "line", "point", "text"]},
          "at": {"type": "array", "minItems": 2, "maxItems": 4,
            "items": {"type": "number", "minimum": 0, "maximum": 1000},
            "description": "box and line: [x1, y1, x2, y2]; point and text: [x, y]; 0 to 1000."},
          "text": {"type": "string", "maxLength": 200},
          "color": {"enum": ["red", "green", "blue", "yellow", "black", "white"]},
          "thickness": {"type": "integer", "minimum": 1, "maximum": 20}
        },
        "required": ["kind", "at"],
        "additionalProperties": false
      }}
  },
  "required": ["operation"],
  "additionalProperties": false
})json";

// The value of a key that the operation requires.
const Json& needed(const Json& arguments, const char* key) {
  if (!arguments.contains(key)) throw Error("{} needs {}.", arguments.at("operation").get<std::string>(), key);
  return arguments.at(key);
}

double amount_in(const Json& arguments, double low, double high) {
  const double amount = needed(arguments, "amount");
  if (amount < low || amount > high)
    throw Error("amount is {}, but {} takes {} to {}.", amount, arguments.at("operation").get<std::string>(), low,
                high);
  return amount;
}

int pixel_of(const Json& thousandths, int side) {
  return static_cast<int>(std::lround(thousandths.get<double>() / 1000 * side));
}

cv::Mat crop(const cv::Mat& picture, const Json& arguments) {
  const Json& box = needed(arguments, "box");
  if (box[0] >= box[2] || box[1] >= box[3])
    throw Error("box is {}, but it must be [x1, y1, x2, y2] with x1 < x2 and y1 < y2.", box.dump());
  const int left = std::min(pixel_of(box[0], picture.cols), picture.cols - 1);
  const int top = std::min(pixel_of(box[1], picture.rows), picture.rows - 1);
  const int right = std::max(pixel_of(box[2], picture.cols), left + 1);
  const int bottom = std::max(pixel_of(box[3], picture.rows), top + 1);
  return picture(cv::Rect(left, top, right - left, bottom - top)).clone();
}

// Rotates by any angle, on a white canvas that holds the whole picture.
cv::Mat rotate_freely(const cv::Mat& picture, double degrees) {
  const cv::Point2d centre(picture.cols / 2.0, picture.rows / 2.0);
  cv::Mat turn = cv::getRotationMatrix2D(centre, -degrees, 1);
  const double cosine = std::abs(turn.at<double>(0, 0)), sine = std::abs(turn.at<double>(0, 1));
  const cv::Size size(cvRound(picture.rows * sine + picture.cols * cosine),
                      cvRound(picture.rows * cosine + picture.cols * sine));
  if (size.width > 2 * kMostSide || size.height > 2 * kMostSide)
    throw Error("the picture would have {} x {} pixels. Resize it first.", size.width, size.height);
  turn.at<double>(0, 2) += size.width / 2.0 - centre.x;
  turn.at<double>(1, 2) += size.height / 2.0 - centre.y;
  cv::Mat result;
  cv::warpAffine(picture, result, turn, size, cv::INTER_LINEAR, cv::BORDER_CONSTANT, cv::Scalar::all(255));
  return result;
}

cv::Mat rotate(const cv::Mat& picture, const Json& arguments) {
  const double degrees = std::fmod(needed(arguments, "degrees").get<double>() + 720, 360);
  cv::Mat result;
  if (degrees == 0) return picture.clone();
  if (std::fmod(degrees, 90) != 0) return rotate_freely(picture, degrees);
  cv::rotate(picture, result,
             degrees == 90    ? cv::ROTATE_90_CLOCKWISE
             : degrees == 180 ? cv::ROTATE_180
                              : cv::ROTATE_90_COUNTERCLOCKWISE);
  return result;
}

cv::Mat resize(const cv::Mat& picture, const Json& arguments) {
  const bool wide = arguments.contains("width"), high = arguments.contains("height");
  if (!wide && !high) throw Error("resize needs width, height or both.");
  const double scale_x = wide ? arguments["width"].get<double>() / picture.cols : 0;
  const double scale_y = high ? arguments["height"].get<double>() / picture.rows : 0;
  const cv::Size size(std::max(1, cvRound(picture.cols * (wide ? scale_x : scale_y))),
                      std::max(1, cvRound(picture.rows * (high ? scale_y : scale_x))));
  if (size.width > kMostSide || size.height > kMostSide)
    throw Error("the picture would have {} x {} pixels (at most {} a side).", size.width, size.height, kMostSide);
  const bool smaller = size.width < picture.cols || size.height < picture.rows;
  cv::Mat result;
  cv::resize(picture, result, size, 0, 0, smaller ? cv::INTER_AREA : cv::INTER_CUBIC);
  return result;
}

cv::Mat brighten(const cv::Mat& picture, const Json& arguments) {
  cv::Mat result;
  picture.convertTo(result, -1, 1, 2.55 * amount_in(arguments, -100, 100));
  return result;
}

// Moves the pixel values away from the picture's mean (factor above 1) or towards it.
cv::Mat contrast(const cv::Mat& picture, const Json& arguments) {
  const double factor = amount_in(arguments, 0, 10);
  const cv::Scalar means = cv::mean(picture);
  cv::Mat result;
  picture.convertTo(result, -1, factor, (1 - factor) * (means[0] + means[1] + means[2]) / 3);
  return result;
}

cv::Mat denoise(const cv::Mat& picture, const Json& arguments) {
  const double strength = amount_in(arguments, 0, 10);
  cv::Mat without_specks, result;
  if (strength == 0) return picture.clone();
  cv::medianBlur(picture, without_specks, strength > 5 ? 5 : 3);
  cv::bilateralFilter(without_specks, result, 5, 10 * strength, 2);
  return result;
}

cv::Mat sharpen(const cv::Mat& picture, const Json& arguments) {
  const double strength = amount_in(arguments, 0, 10);
  cv::Mat soft, result;
  cv::GaussianBlur(picture, soft, {}, 2);
  cv::addWeighted(picture, 1 + strength, soft, -strength, 0, result);
  return result;
}

cv::Scalar color_of(const std::string& name) {  // RGB
  if (name == "green") return {0, 160, 0};
  if (name == "blue") return {0, 0, 255};
  if (name == "yellow") return {255, 255, 0};
  if (name == "black") return {0, 0, 0};
  if (name == "white") return {255, 255, 255};
  return {255, 0, 0};
}

void draw_shape(cv::Mat& picture, const Json& shape) {
  const std::string kind = shape.at("kind");
  const Json& at = shape.at("at");
  const std::size_t numbers = kind == "box" || kind == "line" ? 4 : 2;
  if (at.size() != numbers) throw Error("at is {}, but a {} takes {} numbers.", at.dump(), kind, numbers);
  if (kind == "text" && shape.value("text", "").empty()) throw Error("a shape of kind text needs its text.");
  const auto point = [&](std::size_t i) {
    return cv::Point(std::min(pixel_of(at[i], picture.cols), picture.cols - 1),
                     std::min(pixel_of(at[i + 1], picture.rows), picture.rows - 1));
  };
  const cv::Scalar color = color_of(shape.value("color", "red"));
  const int thickness = shape.contains("thickness") ? whole_number_or_throw(shape["thickness"], "thickness", 1, 20) : 2;
  if (kind == "box") cv::rectangle(picture, point(0), point(2), color, thickness);
  if (kind == "line") cv::line(picture, point(0), point(2), color, thickness, cv::LINE_AA);
  if (kind == "point") cv::circle(picture, point(0), 2 * thickness, color, cv::FILLED, cv::LINE_AA);
  if (kind == "text")
    cv::putText(picture, shape.at("text").get<std::string>(), point(0), cv::FONT_HERSHEY_SIMPLEX,
                0.35 + 0.15 * thickness, color, thickness, cv::LINE_AA);
}

cv::Mat draw(const cv::Mat& picture, const Json& arguments) {
  cv::Mat result = picture.clone();
  for (const Json& shape : needed(arguments, "shapes")) draw_shape(result, shape);
  return result;
}

struct Operation {
  std::string_view name, done;                                    // done: "cropped"
  cv::Mat (*run)(const cv::Mat& picture, const Json& arguments);  // throws Error for arguments that do not fit it
  bool any_size;
};
constexpr std::array<Operation, 8> kOperations = {{{"crop", "cropped", crop, true},
                                                   {"rotate", "rotated", rotate, false},
                                                   {"resize", "resized", resize, true},
                                                   {"brighten", "brightened", brighten, false},
                                                   {"contrast", "with another contrast", contrast, false},
                                                   {"denoise", "denoised", denoise, false},
                                                   {"sharpen", "sharpened", sharpen, false},
                                                   {"draw", "drawn on", draw, false}}};

std::size_t picture_of(const Json& arguments, std::size_t pictures) {
  if (pictures == 0) throw Error("there is no picture yet.");
  if (!arguments.contains("picture")) return pictures;
  const Json& given = arguments["picture"];
  if (const auto number = whole_number<std::size_t>(given, 1, pictures)) return *number;
  throw Error("picture is {}, but there are {} pictures, numbered from 1.", shown(given), pictures);
}

Image image_of(const cv::Mat& rgb) { return Image(rgb.cols, rgb.rows, {rgb.data, rgb.data + rgb.total() * 3}); }

class ImageTool : public Tool {
 public:
  ImageTool() {
    spec_.name = "image";
    spec_.description =
        "Changes a picture and shows the result as a new one: crop (box), rotate (degrees), resize (width, height), "
        "brighten, contrast, denoise and sharpen (amount), draw (shapes). Places are 0 to 1000 on both sides.";
    spec_.schema = Json::parse(kParameters);
    spec_.idempotent = true;
  }
  const ToolSpec& spec() const override { return spec_; }

  ToolResult call(const Json& arguments, const ToolContext& context) override {
    try {
      return changed(arguments, context.pictures);
    } catch (const Error& error) {
      return ToolResult::failure(ToolFault::bad_arguments, error.what());
    } catch (const cv::Exception& exception) {
      return ToolResult::failure(ToolFault::failed, fmt::format("the picture cannot be changed: {}", exception.err));
    }
  }

 private:
  static ToolResult changed(const Json& arguments, std::span<const Image> pictures) {
    const std::size_t number = picture_of(arguments, pictures.size());
    const Image& from = pictures[number - 1];
    const std::string name = arguments.at("operation");
    const Operation& operation =
        *std::find_if(kOperations.begin(), kOperations.end(), [&](const Operation& one) { return one.name == name; });
    if (!operation.any_size && std::int64_t{from.width()} * from.height() > kMostPixels)
      throw Error("picture {} has {} x {} pixels, too many for {}. Crop or resize it first.", number, from.width(),
                  from.height(), name);
    const cv::Mat pixels(from.height(), from.width(), CV_8UC3, const_cast<std::uint8_t*>(from.rgb().data()));
    const Image image = image_of(operation.run(pixels, arguments));
    ToolResult result = ToolResult::text(fmt::format("Picture {}: picture {} {}, {} x {} pixels.", pictures.size() + 1,
                                                     number, operation.done, image.width(), image.height()));
    result.parts.push_back(Part::of(image));
    return result;
  }

  ToolSpec spec_;
};

}  // namespace

std::unique_ptr<Tool> make_image_tool() { return std::make_unique<ImageTool>(); }

}  // namespace agon::tools
